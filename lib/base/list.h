/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * list - intrusive doubly linked ring
 *
 * A node that is in no list points at itself.  So removing it twice is
 * harmless, and tux_list_empty() also tells whether a node is in a list.
 */
#ifndef TUX_BASE_LIST_H
#define TUX_BASE_LIST_H

#include <stdbool.h>
#include <stddef.h>

struct tux_list {
	struct tux_list *next, *prev;
};

#define TUX_CONTAINER(p, type, field) \
	((type *)(void *)((char *)(p) - offsetof(type, field)))

#define TUX_LIST_EACH(n, head) \
	for ((n) = (head)->next; (n) != (head); (n) = (n)->next)

/* As above, but the body may remove @n: @m holds the node after it. */
#define TUX_LIST_EACH_SAFE(n, m, head) \
	for ((n) = (head)->next, (m) = (n)->next; (n) != (head); \
	     (n) = (m), (m) = (n)->next)

static inline void tux_list_init(struct tux_list *n)
{
	n->next = n->prev = n;
}

static inline bool tux_list_empty(const struct tux_list *n)
{
	return n->next == n;
}

/* Inserts @n before @at.  If @at is the head of a list, @n becomes its last. */
static inline void tux_list_push(struct tux_list *at, struct tux_list *n)
{
	n->next = at;
	n->prev = at->prev;
	at->prev->next = n;
	at->prev = n;
}

static inline void tux_list_remove(struct tux_list *n)
{
	n->prev->next = n->next;
	n->next->prev = n->prev;
	tux_list_init(n);
}

#endif
