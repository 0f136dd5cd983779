/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/list.h"

#include "../test.h"

struct item {
	int n;
	struct tux_list node;
};

enum { ITEMS = 5 };

static void fill(struct tux_list *head, struct item *item)
{
	int i;

	tux_list_init(head);
	for (i = 0; i < ITEMS; i++) {
		item[i].n = i;
		tux_list_push(head, &item[i].node);
	}
}

static struct item *item_of(struct tux_list *n)
{
	return TUX_CONTAINER(n, struct item, node);
}

static void init__is_empty(void **state)
{
	struct tux_list head;

	(void)state;
	tux_list_init(&head);
	assert_true(tux_list_empty(&head));
}

static void push__at_the_head_goes_to_the_tail(void **state)
{
	struct item item[ITEMS];
	struct tux_list head, *n;
	int i = 0;

	(void)state;
	fill(&head, item);
	assert_false(tux_list_empty(&head));
	TUX_LIST_EACH(n, &head)
		assert_int_equal(item_of(n)->n, i++);
	assert_int_equal(i, ITEMS);
	assert_ptr_equal(head.prev, &item[ITEMS - 1].node);
}

static void push__goes_in_before_a_node(void **state)
{
	struct item item[ITEMS], one = { .n = 100 };
	struct tux_list head;

	(void)state;
	fill(&head, item);
	tux_list_push(&item[2].node, &one.node);
	assert_ptr_equal(item[1].node.next, &one.node);
	assert_ptr_equal(one.node.next, &item[2].node);
	assert_ptr_equal(item[2].node.prev, &one.node);
	assert_ptr_equal(one.node.prev, &item[1].node);
}

static void remove__twice_is_harmless(void **state)
{
	struct item item[ITEMS];
	struct tux_list head, *n;
	int sum = 0;

	(void)state;
	fill(&head, item);
	tux_list_remove(&item[2].node);
	assert_true(tux_list_empty(&item[2].node));
	tux_list_remove(&item[2].node);
	TUX_LIST_EACH(n, &head)
		sum += item_of(n)->n;
	assert_int_equal(sum, 0 + 1 + 3 + 4);
}

static void each_safe__may_remove_on_the_way(void **state)
{
	struct item item[ITEMS];
	struct tux_list head, *n, *m;
	int seen = 0;

	(void)state;
	fill(&head, item);
	TUX_LIST_EACH_SAFE(n, m, &head) {
		assert_int_equal(item_of(n)->n, seen++);
		tux_list_remove(n);
	}
	assert_int_equal(seen, ITEMS);
	assert_true(tux_list_empty(&head));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(init__is_empty),
		cmocka_unit_test(push__at_the_head_goes_to_the_tail),
		cmocka_unit_test(push__goes_in_before_a_node),
		cmocka_unit_test(remove__twice_is_harmless),
		cmocka_unit_test(each_safe__may_remove_on_the_way),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
