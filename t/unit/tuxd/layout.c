/* SPDX-License-Identifier: BSD-2-Clause */
#include "../../../tuxd/layout.h"

#include <bpf/btf.h>

#include "../test.h"

enum { LONG = 8, HOLE = 16 };

static struct btf *empty(int *word)
{
	struct btf *b = btf__new_empty();

	assert_non_null(b);
	*word = btf__add_int(b, "long", LONG, 0);
	return b;
}

/* Struct @name with @member at @at bytes. */
static int add(struct btf *b, const char *name, const char *member, int type,
	       unsigned at)
{
	int id = btf__add_struct(b, name, at + LONG);

	assert_int_equal(btf__add_field(b, member, type, at * 8, 0), 0);
	return id;
}

static void add_others(struct btf *b, int word)
{
	add(b, "socket", "file", word, 24);
	add(b, "task_struct", "files", word, 3000);
	add(b, "files_struct", "count", word, 0);
}

static void find__a_new_kernel(void **state)
{
	struct tux_bpf_layout l;
	int word;
	struct btf *b = empty(&word);

	(void)state;
	add_others(b, word);
	add(b, "sock", "sk_socket", word, 600);
	add(b, "file", "f_ref", word, 112);
	assert_true(layout_find(&l, b));
	assert_int_equal(l.known, 1);
	assert_int_equal(l.count_from, 0);
	assert_int_equal(l.file_count, 112);
	assert_int_equal(l.sock_socket, 600);
	assert_int_equal(l.socket_file, 24);
	assert_int_equal(l.task_files, 3000);
	assert_int_equal(l.files_count, 0);
	btf__free(b);
}

/* Its counter is in a struct without a name. */
static void find__an_older_kernel(void **state)
{
	struct tux_bpf_layout l;
	int word, inner;
	struct btf *b = empty(&word);

	(void)state;
	add_others(b, word);
	add(b, "sock", "sk_socket", word, 600);
	inner = add(b, NULL, "f_count", word, HOLE);
	btf__add_struct(b, "file", HOLE + HOLE + LONG);
	btf__add_field(b, "", inner, HOLE * 8, 0);
	assert_true(layout_find(&l, b));
	assert_int_equal(l.count_from, 1);
	assert_int_equal(l.file_count, 2 * HOLE);
	btf__free(b);
}

static void find__something_is_missing(void **state)
{
	struct tux_bpf_layout l;
	int word;
	struct btf *b = empty(&word);

	(void)state;
	add_others(b, word);
	add(b, "file", "f_ref", word, 112);
	assert_false(layout_find(&l, b));
	assert_int_equal(l.known, 0);
	assert_int_equal(l.file_count, 0);
	btf__free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(find__a_new_kernel),
		cmocka_unit_test(find__an_older_kernel),
		cmocka_unit_test(find__something_is_missing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
