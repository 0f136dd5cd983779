/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * crc32c - the Castagnoli CRC (RFC 3720, appendix B.4)
 *
 * With the instructions of SSE4.2 where the processor has them, else by a table.
 */
#ifndef TUX_BASE_CRC32C_H
#define TUX_BASE_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/* Continues @crc (0 to begin) over @len bytes at @p. */
uint32_t tux_crc32c(uint32_t crc, const void *p, size_t len);

/* The portable twin, for processors without the instruction and for tests. */
uint32_t tux_crc32c_table(uint32_t crc, const void *p, size_t len);

#endif
