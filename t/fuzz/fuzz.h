/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fuzz - what the targets share: the input as numbers, and checks
 *
 * A target is LLVMFuzzerTestOneInput() in a file of its own.  libFuzzer calls
 * it, with what it makes up, if --enable-fuzz was given; else replay.c does,
 * with what is kept in t/fuzz/corpus.
 */
#ifndef FUZZ_FUZZ_H
#define FUZZ_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Always 0; a report is the end of the process. */
int LLVMFuzzerTestOneInput(const uint8_t *p, size_t len);

struct fuzz_in {		/* what is left of an input */
	const uint8_t *p;
	size_t left;
};

/* The next number; behind the end they are all zero. */
uint8_t fuzz_u8(struct fuzz_in *in);
uint16_t fuzz_u16(struct fuzz_in *in);
uint32_t fuzz_u32(struct fuzz_in *in);
uint64_t fuzz_u64(struct fuzz_in *in);

/* Up to @len bytes to @p; the rest of them are zero. */
void fuzz_bytes(struct fuzz_in *in, void *p, size_t len);

/* A number that is @v, or near it, or at an edge, or any: one byte says how,
 * and most of its values leave @v as it is. */
uint64_t fuzz_vary(struct fuzz_in *in, uint64_t v);

/* Ends the process, and so does a check that does not hold. */
void fuzz_fail(const char *file, int line, const char *what)
	__attribute__((noreturn));

#define FUZZ_CHECK(cond) \
	do { \
		if (!(cond)) \
			fuzz_fail(__FILE__, __LINE__, #cond); \
	} while (0)

#endif
