/* SPDX-License-Identifier: BSD-2-Clause */
#include "transport.h"

#include <string.h>

static const struct transport_ops *const all[] = {
	&transport_tcp,
	&transport_messages,
	&transport_ordered,
	&transport_stream,
};

const struct transport_ops *transport_find(const char *name)
{
	unsigned i;

	for (i = 0; i < sizeof(all) / sizeof(*all); i++)
		if (!strcmp(all[i]->name, name))
			return all[i];
	return NULL;
}
