/* SPDX-License-Identifier: BSD-2-Clause */
#include "fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"

void fuzz_bytes(struct fuzz_in *in, void *p, size_t len)
{
	size_t n = len < in->left ? len : in->left;

	if (n)
		memcpy(p, in->p, n);
	memset((uint8_t *)p + n, 0, len - n);
	in->p += n;
	in->left -= n;
}

uint8_t fuzz_u8(struct fuzz_in *in)
{
	if (!in->left)
		return 0;
	in->left--;
	return *in->p++;
}

uint16_t fuzz_u16(struct fuzz_in *in)
{
	uint8_t b[2];

	fuzz_bytes(in, b, sizeof(b));
	return tux_get16(b);
}

uint32_t fuzz_u32(struct fuzz_in *in)
{
	uint8_t b[4];

	fuzz_bytes(in, b, sizeof(b));
	return tux_get32(b);
}

uint64_t fuzz_u64(struct fuzz_in *in)
{
	uint8_t b[8];

	fuzz_bytes(in, b, sizeof(b));
	return tux_get64(b);
}

uint64_t fuzz_vary(struct fuzz_in *in, uint64_t v)
{
	uint8_t how = fuzz_u8(in);

	if (how < 128)
		return v;
	if (how < 160)			/* -16 to +15 */
		return v + how - 144;
	if (how < 192)			/* powers of two away */
		return v + (UINT64_C(1) << (how - 160));
	if (how < 224)
		return v - (UINT64_C(1) << (how - 192));
	switch (how % 8) {
	case 0:
		return 0;
	case 1:
		return UINT64_MAX - fuzz_u8(in);
	case 2:
		return UINT32_MAX - fuzz_u8(in);
	case 3:
		return v + (int16_t)fuzz_u16(in);
	case 4:
		return fuzz_u16(in);
	case 5:
		return fuzz_u32(in);
	case 6:
		return fuzz_u64(in);
	default:
		return fuzz_u8(in);
	}
}

void fuzz_fail(const char *file, int line, const char *what)
{
	fprintf(stderr, "%s:%d: does not hold: %s\n", file, line, what);
	abort();
}
