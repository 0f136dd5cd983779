/* SPDX-License-Identifier: BSD-2-Clause */
#include "sys/slab.h"

#include <stdint.h>
#include <string.h>

#include "sys/area.h"

enum {
	HEADER = 16,		/* before a piece; keeps it aligned, too */
	SMALLEST = 32,
	LARGEST = SMALLEST << (TUX_SLAB_CLASSES - 1),
	CHUNK = 256 * 1024,
};

struct header {
	uint64_t len;		/* with the header, of a piece of its own */
	uint32_t class;		/* TUX_SLAB_CLASSES: mapped on its own */
};

static unsigned class_of(size_t len)
{
	unsigned class = 0;

	while (((size_t)SMALLEST << class) < len)
		class++;
	return class;
}

static void *alloc_large(size_t len)
{
	struct header *h;

	if (tux_area_map((void **)&h, len, TUX_AREA_OWN))
		return NULL;
	h->len = len;
	h->class = TUX_SLAB_CLASSES;
	return (char *)h + HEADER;
}

static void *cut(struct tux_slab *s, size_t len)
{
	void *chunk;
	char *p;

	if ((size_t)(s->end - s->at) < len) {
		if (tux_area_map(&chunk, CHUNK, TUX_AREA_OWN))
			return NULL;
		memcpy(chunk, &s->chunks, sizeof(s->chunks));
		s->chunks = chunk;
		s->at = (char *)chunk + HEADER;
		s->end = (char *)chunk + CHUNK;
	}
	p = s->at;
	s->at += len;
	return p;
}

static void *slab_alloc(void *arg, size_t len)
{
	struct tux_slab *s = arg;
	struct header *h;
	unsigned class;

	if (len > LARGEST - HEADER)
		return alloc_large(len + HEADER);
	class = class_of(len + HEADER);
	h = s->free[class];
	if (h) {
		memcpy(&s->free[class], h, sizeof(void *));
		memset((char *)h + HEADER, 0, len);
	} else {
		h = cut(s, (size_t)SMALLEST << class);
		if (!h)
			return NULL;
	}
	h->class = class;
	return (char *)h + HEADER;
}

static void slab_free(void *arg, void *p)
{
	struct tux_slab *s = arg;
	struct header *h;
	unsigned class;

	if (!p)
		return;
	h = (struct header *)(void *)((char *)p - HEADER);
	class = h->class;
	if (class == TUX_SLAB_CLASSES) {
		tux_area_unmap(h, h->len);
		return;
	}
	memcpy(h, &s->free[class], sizeof(void *));
	s->free[class] = h;
}

void tux_slab_init(struct tux_slab *s)
{
	memset(s, 0, sizeof(*s));
	s->mem = (struct tux_mem){ slab_alloc, slab_free, s };
}

void tux_slab_fini(struct tux_slab *s)
{
	void *c, *next;

	for (c = s->chunks; c; c = next) {
		memcpy(&next, c, sizeof(next));
		tux_area_unmap(c, CHUNK);
	}
	s->chunks = NULL;
}
