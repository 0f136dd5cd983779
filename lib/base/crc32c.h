/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * crc32c - the Castagnoli CRC (RFC 3720, appendix B.4)
 *
 * Uses the crc32 instruction of SSE4.2, and PCLMULQDQ for longer inputs, where
 * the processor has them; otherwise tables.
 */
#ifndef TUX_BASE_CRC32C_H
#define TUX_BASE_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/* Continues a CRC: @crc is the CRC of the bytes so far (0: none), and the
 * result that of these and the @len bytes at @p. */
uint32_t tux_crc32c(uint32_t crc, const void *p, size_t len);

/* The same, always by tables: for processors without the instructions, and for
 * tests. */
uint32_t tux_crc32c_table(uint32_t crc, const void *p, size_t len);

#endif
