/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libtux-blocking: the C library's names are libtux's calls in routines, on
 * files, and the C library's elsewhere.  Linked as a program links it.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <tux.h>

#include "../../unit/test.h"

enum { CALLS = 18 };

struct names {
	struct tux *t;
	char path[40];
	unsigned wrong;
	int can;			/* routines wait */
	uint64_t made;			/* calls, by libtux */
};

static uint64_t made_by(struct tux *t)
{
	struct tux_loop_stats st;

	if (tux_loop_stats(t, 0, &st, sizeof(st)))
		return 0;
	return st.file_calls + st.block_calls;
}

/* Fortified programs call these. */
ssize_t __read_chk(int fd, void *p, size_t len, size_t room);
ssize_t __pread64_chk(int fd, void *p, size_t len, off_t at, size_t room);
int __open64_2(const char *path, int flags);

/* CALLS of them. */
static void use_files(struct names *k)
{
	char text[4] = "abcd", got[4];
	struct iovec v = { got, 4 };
	struct stat st;
	int fd = open(k->path, O_RDWR | O_CREAT | O_EXCL, 0640);

	k->wrong += fstat(fd, &st) || (st.st_mode & 0777) != 0640;
	k->wrong += write(fd, text, 4) != 4;
	k->wrong += pwrite(fd, text, 4, 2) != 4;
	k->wrong += pread(fd, got, 4, 1) != 4 || memcmp(got, "babc", 4);
	v.iov_base = text;
	k->wrong += pwritev(fd, &v, 1, 8) != 4;
	v.iov_base = got;
	k->wrong += preadv(fd, &v, 1, 5) != 4 || memcmp(got, "d\0\0a", 4);
	k->wrong += lseek(fd, 0, SEEK_SET) || read(fd, got, 4) != 4 ||
		    memcmp(got, "abab", 4);
	k->wrong += fsync(fd) != 0;
	k->wrong += fdatasync(fd) != 0;
	k->wrong += ftruncate64(fd, 5) != 0;
	k->wrong += pread64(fd, got, 4, 4) != 1;
	k->wrong += close(fd) != 0;
	fd = openat(AT_FDCWD, k->path, O_RDONLY);
	k->wrong += fd < 0 || close(fd);
	fd = __open64_2(k->path, O_RDONLY);
	k->wrong += __read_chk(fd, got, 4, 4) != 4;
	k->wrong += __pread64_chk(fd, got, 4, 4, 4) != 1;
	k->wrong += close(fd) != 0;
	unlink(k->path);
}

/* None of them is on a file. */
static void use_a_pipe(struct names *k)
{
	char byte = 'x';
	int ends[2];

	k->wrong += pipe(ends) != 0;
	k->wrong += write(ends[1], "y", 1) != 1;
	k->wrong += read(ends[0], &byte, 1) != 1 || byte != 'y';
	k->wrong += close(ends[0]) || close(ends[1]);
}

static void in_block(void *arg)
{
	struct names *k = arg;

	k->wrong += tux_can_block();
	use_files(k);
}

static void in_routine(void *arg)
{
	struct names *k = arg;
	uint64_t made = made_by(k->t);

	k->can = tux_can_block();
	use_files(k);
	k->made = made_by(k->t) - made;
	made += k->made;
	use_a_pipe(k);
	k->wrong += made_by(k->t) != made;
	/* A thread makes them itself. */
	tux_block(in_block, k);
	k->wrong += made_by(k->t) != made + 1;
	/* Nobody else is to run now. */
	tux_uninterruptible_enter();
	k->wrong += tux_can_block();
	use_files(k);
	tux_uninterruptible_leave();
	k->wrong += made_by(k->t) != made + 1;
	tux_stop(k->t);
}

static void names__go_on_in_routines(uint64_t slice_ns, struct names *k)
{
	struct tux_opts o = {
		.size = sizeof(o), .backend = TUX_BACKEND_TCP,
		.slice_ns = slice_ns,
	};
	int fd;

	*k = (struct names){ .path = "/tmp/tux-names.XXXXXX" };
	fd = mkstemp(k->path);
	assert_true(fd >= 0);
	close(fd);
	unlink(k->path);
	assert_int_equal(tux_can_block(), 0);
	assert_int_equal(tux_open(&k->t, &o), 0);
	use_files(k);
	assert_int_equal(made_by(k->t), 0);
	assert_int_equal(tux_go(k->t, in_routine, k), 0);
	assert_int_equal(tux_run(k->t), 0);
	assert_int_equal(k->wrong, 0);
	tux_close(k->t);
}

/* Not where the build or the processor gives routines no storage. */
static void names__with_slices(void **state)
{
	struct names k;

	(void)state;
	names__go_on_in_routines(0, &k);
	assert_int_equal(k.made, k.can ? CALLS : 0);
}

static void names__without_slices(void **state)
{
	struct names k;

	(void)state;
	names__go_on_in_routines(TUX_NO_SLICE, &k);
	assert_int_equal(k.can, 0);
	assert_int_equal(k.made, 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(names__with_slices),
		cmocka_unit_test(names__without_slices),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
