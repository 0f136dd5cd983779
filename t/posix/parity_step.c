/* SPDX-License-Identifier: BSD-2-Clause */
#include "parity_step.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char *const kind_name[] = {
#define X(name) #name,
	PARITY_KINDS(X)
#undef X
};

const char *parity_kind_name(unsigned kind)
{
	return kind < PARITY_KIND_N ? kind_name[kind] : "observation";
}

void parity_step_print(const struct parity_step *s)
{
	printf("  process %c thread %u: %s slot %u other %u n %d flags %#x "
	       "value %d\n", 'A' + s->proc, s->worker,
	       parity_kind_name(s->kind), s->slot, s->other, s->n,
	       (unsigned)s->flags, s->value);
}

void parity_record_print(const char *world, const struct parity_record *r)
{
	const char *err = r->err ? strerrorname_np(r->err) : NULL;

	if (r->state == PARITY_BLOCKS)
		printf("    %s: blocks\n", world);
	else
		printf("    %s: %" PRId64 " %s hash %016" PRIx64 " out %#x %#x "
		       "%#x %#x\n", world, r->ret, err ? err : "", r->hash,
		       r->out[0], r->out[1], r->out[2], r->out[3]);
}
