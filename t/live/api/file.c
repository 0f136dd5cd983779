/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Calls on files in routines, beside those of the C library on twins of the
 * files; and calls that wait, while others go on.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <linux/userfaultfd.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../unit/test.h"
#include "duet.h"
#include "sys/sys.h"
#include "tick/tick_signal.h"

enum {
	PAIRS = 4000,
	PAGE = 4096,
	LONGEST = 300 * 1024,		/* longer than what is copied at once */
	ROOM = LONGEST + PAGE,
	SIZE_LIMIT = 1 << 20,		/* of a file */
	DISK = 256 * 1024,		/* of the small disk */
	PIECES = 5,
	SLOW = 64 * 1024,
	CROWD = 60,			/* routines, each of which */
	ROUNDS = 16,			/* makes so many calls of each kind */
};

static char dir[64];
static bool forbidden;			/* io_uring is, in this process */

/* ---- the stack ---- */

static struct tux_opts options(uint64_t slice_ns)
{
	struct tux_opts o = duet_opts(TUX_BACKEND_UDP);

	o.slice_ns = slice_ns;
	return o;
}

static void open_both(struct duet *d, uint64_t slice_ns)
{
	struct tux_opts o = options(slice_ns);

	duet_open_as(d, &o, &o);
	duet_start(d);
}

struct counts {
	struct tux *t;
	struct tux_loop_stats st;
};

static void look(void *arg)
{
	struct counts *k = arg;

	tux_loop_stats(k->t, 0, &k->st, sizeof(k->st));
}

static struct tux_loop_stats counts_of(struct duet *d)
{
	struct counts k = { .t = d->server.t };

	part_do(&d->server, look, &k);
	return k.st;
}

/* Does the kernel let this process have a ring, and is it in this build? */
static bool has_ring(void)
{
#ifdef TUX_IO_URING
	static const struct { uint32_t n[30]; } none;
	long fd = syscall(SYS_io_uring_setup, 1, &none);

	if (fd >= 0)
		close((int)fd);
	return fd >= 0 || errno == EFAULT;
#else
	return false;
#endif
}

/* ---- twins ---- */

struct kind {
	const char *name;
	int (*open)(const struct kind *k, unsigned twin);
	int flags;
};

static int open_file(const struct kind *k, unsigned twin)
{
	char path[128];
	int fd;

	snprintf(path, sizeof(path), "%s/%s.%u", dir, k->name, twin);
	fd = open(path, O_RDWR | O_CREAT, 0600);
	if (fd < 0 || ftruncate(fd, 3 * PAGE) || close(fd))
		return -1;
	return open(path, k->flags);
}

static int open_path(const struct kind *k, unsigned twin)
{
	(void)twin;
	return open(k->name, k->flags);
}

/* Full after a few writes. */
static int open_small_disk(const struct kind *k, unsigned twin)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/disk.%u/file", dir, twin);
	return open(path, k->flags, 0600);
}

static int open_sealed(const struct kind *k, unsigned twin)
{
	int fd = (int)syscall(SYS_memfd_create, k->name, MFD_ALLOW_SEALING);

	(void)twin;
	if (fd < 0 || ftruncate(fd, 3 * PAGE) ||
	    fcntl(fd, F_ADD_SEALS, F_SEAL_GROW | F_SEAL_SHRINK))
		return -1;
	return fd;
}

static int open_pipe(const struct kind *k, unsigned twin)
{
	int fd[2];

	(void)twin;
	if (pipe2(fd, O_NONBLOCK))
		return -1;
	close(fd[k->flags == O_RDONLY]);
	return fd[k->flags != O_RDONLY];
}

static int open_none(const struct kind *k, unsigned twin)
{
	(void)k;
	(void)twin;
	return -1;
}

static const struct kind kinds[] = {
	{ "plain", open_file, O_RDWR },
	{ "append", open_file, O_RDWR | O_APPEND },
	{ "direct", open_file, O_RDWR | O_DIRECT },
	{ "sync", open_file, O_RDWR | O_DSYNC },
	{ "read", open_file, O_RDONLY },
	{ "write", open_file, O_WRONLY },
	{ "path", open_file, O_PATH },
	{ "sealed", open_sealed, 0 },
	{ "full", open_small_disk, O_RDWR | O_CREAT },
	{ "/dev/zero", open_path, O_RDWR },
	{ "/dev/full", open_path, O_RDWR },
	{ "/", open_path, O_RDONLY },
	{ "pipe to read", open_pipe, O_RDONLY },
	{ "pipe to write", open_pipe, O_WRONLY },
	{ "none", open_none, 0 },
};

/* ---- pairs of calls ---- */

enum op {
	PREAD, PWRITE, PREADV, PWRITEV, FSYNC, FDATASYNC, READ, WRITE, OPENAT,
	OPS
};

struct call {
	enum op op;
	int fd;
	char *p;
	size_t len;
	struct iovec iov[PIECES];
	int n;
	off_t at;
	int flags;
	char path[80];
};

struct outcome {
	ssize_t ret;
	int err;
	off_t position;
};

struct pairs {
	uint64_t seed;
	char *room[2];			/* and a page behind that is none */
	int fd[N_OF(kinds)][2];
	char wrong[400];
};

static ssize_t make_ours(const struct call *c)
{
	switch (c->op) {
	case PREAD: return tux_pread(c->fd, c->p, c->len, c->at);
	case PWRITE: return tux_pwrite(c->fd, c->p, c->len, c->at);
	case PREADV: return tux_preadv(c->fd, c->iov, c->n, c->at);
	case PWRITEV: return tux_pwritev(c->fd, c->iov, c->n, c->at);
	case FSYNC: return tux_fsync(c->fd);
	case FDATASYNC: return tux_fdatasync(c->fd);
	case READ: return tux_read_file(c->fd, c->p, c->len);
	case WRITE: return tux_write_file(c->fd, c->p, c->len);
	default: return tux_openat(AT_FDCWD, c->path, c->flags, 0600);
	}
}

static ssize_t make_theirs(const struct call *c)
{
	switch (c->op) {
	case PREAD: return pread(c->fd, c->p, c->len, c->at);
	case PWRITE: return pwrite(c->fd, c->p, c->len, c->at);
	case PREADV: return preadv(c->fd, c->iov, c->n, c->at);
	case PWRITEV: return pwritev(c->fd, c->iov, c->n, c->at);
	case FSYNC: return fsync(c->fd);
	case FDATASYNC: return fdatasync(c->fd);
	case READ: return read(c->fd, c->p, c->len);
	case WRITE: return write(c->fd, c->p, c->len);
	default: return openat(AT_FDCWD, c->path, c->flags, 0600);
	}
}

static uint64_t tick_mask(int how, uint64_t set)
{
	uint64_t old = 0;

	TUX_SYS(SYS_rt_sigprocmask, how, (long)&set, (long)&old, sizeof(set), 0,
		0);
	return old;
}

/* A pending signal ends a read of /dev/zero or /dev/full between two pages.  The call of
 * libc is made in this thread, which gets a signal at the end of a slice: later. */
static ssize_t make_theirs_whole(const struct call *c)
{
	int tick = tux_tick_signal();
	uint64_t before = tick_mask(SIG_BLOCK,
				    tick ? UINT64_C(1) << (tick - 1) : 0);
	ssize_t ret = make_theirs(c);
	int err = errno;

	tick_mask(SIG_SETMASK, before);
	errno = err;
	return ret;
}

/* A descriptor that was opened counts as 0. */
static struct outcome outcome_of(const struct call *c,
				 ssize_t (*make)(const struct call *c))
{
	struct outcome o;

	errno = 0;
	o.ret = make(c);
	o.err = o.ret < 0 ? errno : 0;
	if (c->op == OPENAT && o.ret >= 0)
		o.ret = tux_close_file((int)o.ret);
	o.position = lseek(c->fd, 0, SEEK_CUR);
	return o;
}

static size_t some_length(struct pairs *k)
{
	switch (test_below(&k->seed, 8)) {
	case 0: return 0;
	case 1: return PAGE * (1 + test_below(&k->seed, 4));
	case 2: return 512 * test_below(&k->seed, 64);
	case 3: return LONGEST - test_below(&k->seed, 2 * PAGE);
	default: return test_below(&k->seed, 300);
	}
}

static off_t some_place(struct pairs *k)
{
	switch (test_below(&k->seed, 16)) {
	case 0: return -1 - (off_t)test_below(&k->seed, 2);
	case 1: return INT64_MAX - (off_t)test_below(&k->seed, 2 * PAGE);
	case 2: return SIZE_LIMIT - (off_t)test_below(&k->seed, 2 * PAGE);
	case 3: case 4: return test_below(&k->seed, LONGEST);
	case 5: case 6: case 7: return 512 * (off_t)test_below(&k->seed, 64);
	default: return test_below(&k->seed, 4 * PAGE);
	}
}

/* In one of sixteen, the last bytes are beyond the memory that is there. */
static size_t some_start(struct pairs *k, size_t len)
{
	switch (test_below(&k->seed, 16)) {
	case 0: return ROOM - len / 2;
	case 1: return test_below(&k->seed, PAGE);
	default: return 0;
	}
}

static int some_flags(struct pairs *k)
{
	static const int flags[] = {
		O_RDONLY, O_RDWR, O_WRONLY | O_CREAT, O_RDWR | O_CREAT | O_EXCL,
		O_RDONLY | O_DIRECTORY, O_WRONLY | O_TRUNC,
		O_RDONLY | O_NOFOLLOW,
	};

	return flags[test_below(&k->seed, N_OF(flags))];
}

/* The same call for both. */
static void draw(struct pairs *k, struct call c[2])
{
	unsigned kind = test_below(&k->seed, N_OF(kinds));
	size_t len = some_length(k), start = some_start(k, len);
	int i, n = (int)test_below(&k->seed, PIECES + 1);
	unsigned name = test_below(&k->seed, 6), j;

	c[0] = (struct call){
		.op = test_below(&k->seed, OPS), .len = len, .n = n,
		.at = some_place(k), .flags = some_flags(k),
	};
	/* One count that is none. */
	if (!test_below(&k->seed, 32))
		c[0].n = -1;
	c[1] = c[0];
	for (j = 0; j < 2; j++) {
		c[j].fd = k->fd[kind][j];
		c[j].p = k->room[j] + start;
		for (i = 0; i < n; i++)
			c[j].iov[i] = (struct iovec){
				c[j].p + len / (size_t)n * (size_t)i,
				len / (size_t)n,
			};
		snprintf(c[j].path, sizeof(c[j].path), "%s/%s%u.%u", dir,
			 name ? "name" : "no/name", name, j);
	}
}

static void fill(struct pairs *k)
{
	uint64_t r = test_random(&k->seed);

	memset(k->room[0], (int)r, ROOM);
	memcpy(k->room[0], &r, sizeof(r));
	memcpy(k->room[1], k->room[0], ROOM);
}

static const char *name_of(const struct pairs *k, int fd)
{
	unsigned i;

	for (i = 0; i < N_OF(kinds); i++)
		if (k->fd[i][0] == fd)
			return kinds[i].name;
	return "";
}

static void differ(struct pairs *k, const struct call *c,
		   const struct outcome *a, const struct outcome *b)
{
	snprintf(k->wrong, sizeof(k->wrong),
		 "op %d on \"%s\", %zu bytes, %d pieces, at %lld, flags %#x: "
		 "%zd, errno %d, position %lld; libc: %zd, %d, %lld",
		 c->op, name_of(k, c->fd), c->len, c->n, (long long)c->at,
		 (unsigned)c->flags, a->ret, a->err, (long long)a->position,
		 b->ret, b->err, (long long)b->position);
}

/* May @c have failed and left other bytes than its twin?  With O_DIRECT, the kernel fills
 * in zeros up to the first extent that the disk has, and then finds that the place is not
 * aligned.  When the disk gets which extent is the file system's affair. */
static bool fills_holes(const struct pairs *k, const struct call *c,
			const struct outcome *o)
{
	return o->err == EINVAL && !strcmp(name_of(k, c->fd), "direct");
}

/* In a routine: nothing may fail by longjmp() here. */
static void pairs__run(void *arg)
{
	struct pairs *k = arg;
	struct outcome a, b;
	struct call c[2];
	unsigned i;

	for (i = 0; i < PAIRS && !*k->wrong; i++) {
		draw(k, c);
		if (i % 16 == 0)
			fill(k);
		a = outcome_of(&c[0], make_ours);
		b = outcome_of(&c[1], make_theirs_whole);
		if (fills_holes(k, &c[0], &a))
			memcpy(k->room[1], k->room[0], ROOM);
		if (a.ret != b.ret || a.err != b.err ||
		    a.position != b.position ||
		    memcmp(k->room[0], k->room[1], ROOM))
			differ(k, &c[0], &a, &b);
	}
}

static char *room_new(void)
{
	char *p = mmap(NULL, ROOM + PAGE, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_ptr_not_equal(p, MAP_FAILED);
	assert_int_equal(mprotect(p + ROOM, PAGE, PROT_NONE), 0);
	return p;
}

static ssize_t read_twin(const struct kind *k, unsigned twin,
			 char p[SIZE_LIMIT + 1])
{
	char path[128];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "%s/%s.%u", dir, k->name, twin);
	fd = open(path, O_RDONLY);
	n = read(fd, p, SIZE_LIMIT + 1);
	close(fd);
	return n;
}

static void compare_files(const struct kind *k)
{
	static char a[SIZE_LIMIT + 1], b[SIZE_LIMIT + 1];
	ssize_t n = read_twin(k, 0, a), m = read_twin(k, 1, b);

	assert_true(n > 0);
	assert_int_equal(n, m);
	assert_memory_equal(a, b, n);
}

static void compare_pairs(uint64_t slice_ns)
{
	struct rlimit were, limit;
	struct tux_loop_stats st;
	static struct pairs k;
	struct duet d;
	unsigned i, j;

	k = (struct pairs){ .seed = slice_ns + forbidden + 1 };
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &were), 0);
	limit = were;
	limit.rlim_cur = SIZE_LIMIT;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	for (j = 0; j < 2; j++) {
		k.room[j] = room_new();
		for (i = 0; i < N_OF(kinds); i++)
			k.fd[i][j] = kinds[i].open(&kinds[i], j);
	}
	open_both(&d, slice_ns);
	part_do(&d.server, pairs__run, &k);
	st = counts_of(&d);
	duet_close(&d);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &were), 0);
	assert_string_equal(k.wrong, "");
	assert_true(st.block_calls > 0);
	if (has_ring())
		assert_true(st.file_calls > 0);
	else
		assert_int_equal(st.file_calls, 0);
	for (i = 0; i < N_OF(kinds); i++) {
		if (kinds[i].open == open_file)
			compare_files(&kinds[i]);
		for (j = 0; j < 2; j++)
			if (k.fd[i][j] >= 0)
				close(k.fd[i][j]);
	}
	for (j = 0; j < 2; j++)
		munmap(k.room[j], ROOM + PAGE);
}

static void calls__do_as_libc(void **state)
{
	(void)state;
	compare_pairs(0);
}

static void calls__do_as_libc_without_slices(void **state)
{
	(void)state;
	compare_pairs(TUX_NO_SLICE);
}

/* ---- who makes them ---- */

struct tally {
	struct tux *t;
	int fd, direct;
	char *page;
	unsigned wrong;
	bool ring;
};

/* Has the last call been made by the ring, or else by a thread? */
static void tell(struct tally *k, struct tux_loop_stats *before, bool by_ring)
{
	struct tux_loop_stats now;

	tux_loop_stats(k->t, 0, &now, sizeof(now));
	k->wrong += now.file_calls - before->file_calls != by_ring ||
		    now.block_calls - before->block_calls != !by_ring;
	*before = now;
}

static void make_each(void *arg)
{
	char bytes[2] = { 'a', 'b' };
	struct iovec v[2] = { { bytes, 1 }, { bytes + 1, 1 } };
	struct tux_loop_stats st;
	struct tally *k = arg;

	tux_loop_stats(k->t, 0, &st, sizeof(st));
	k->wrong += tux_pwrite(k->fd, bytes, 2, 0) != 2;
	tell(k, &st, false);
	k->wrong += tux_pwritev(k->fd, v, 2, 2) != 2;
	tell(k, &st, false);
	k->wrong += tux_fsync(k->fd) != 0;
	tell(k, &st, false);
	k->wrong += tux_pread(k->fd, bytes, 2, 1) != 2 || bytes[0] != 'b';
	tell(k, &st, k->ring);
	k->wrong += tux_preadv(k->fd, v, 2, 2) != 2 || bytes[0] != 'a';
	tell(k, &st, k->ring);
	k->wrong += tux_pread(k->fd, bytes, 2, -1) != -1 || errno != EINVAL;
	tell(k, &st, false);
}

/* The same where the page cache is bypassed. */
static void make_direct(void *arg)
{
	struct tally *k = arg;
	struct iovec v = { k->page, PAGE };
	struct tux_loop_stats st;

	tux_loop_stats(k->t, 0, &st, sizeof(st));
	k->wrong += tux_pwrite(k->direct, k->page, PAGE, 0) != PAGE;
	tell(k, &st, k->ring);
	k->wrong += tux_pwritev(k->direct, &v, 1, 0) != PAGE;
	tell(k, &st, k->ring);
	k->wrong += tux_pread(k->direct, k->page, PAGE, 0) != PAGE;
	tell(k, &st, k->ring);
}

static int open_scratch(const char *name)
{
	char path[80];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	assert_true(fd >= 0);
	return fd;
}

static void calls__use_the_ring(void **state)
{
	struct tally k = { .ring = has_ring(), .fd = open_scratch("each") };
	char path[80];
	struct duet d;

	(void)state;
	snprintf(path, sizeof(path), "%s/each", dir);
	k.direct = open(path, O_RDWR | O_DIRECT);
	k.page = room_new();
	open_both(&d, 0);
	k.t = d.server.t;
	part_do(&d.server, make_each, &k);
	if (k.direct >= 0)		/* the file system can */
		part_do(&d.server, make_direct, &k);
	assert_int_equal(k.wrong, 0);
	duet_close(&d);
	munmap(k.page, ROOM + PAGE);
	close(k.fd);
	close(k.direct);
}

static struct {
	_Atomic unsigned over, wrong;
	int fd;
} crowd;

/* Block @arg of the file is this routine's. */
static void work_on_a_block(void *arg)
{
	unsigned i, b = (unsigned)(uintptr_t)arg;
	char put[PAGE], got[PAGE];
	off_t at = (off_t)b * PAGE;

	for (i = 0; i < ROUNDS; i++) {
		memset(put, (int)(b + i), PAGE);
		if (tux_pwrite(crowd.fd, put, PAGE, at) != PAGE ||
		    (i % 4 == 3 && tux_fdatasync(crowd.fd)) ||
		    tux_pread(crowd.fd, got, PAGE, at) != PAGE ||
		    memcmp(put, got, PAGE))
			atomic_fetch_add(&crowd.wrong, 1);
	}
	atomic_fetch_add(&crowd.over, 1);
}

static void calls__of_many_routines(void **state)
{
	struct duet d;
	unsigned i;

	(void)state;
	memset(&crowd, 0, sizeof(crowd));
	crowd.fd = open_scratch("crowd");
	open_both(&d, 0);
	for (i = 0; i < CROWD; i++)
		assert_int_equal(tux_go(d.server.t, work_on_a_block,
					(void *)(uintptr_t)i), 0);
	await(&crowd.over, CROWD);
	assert_int_equal(crowd.wrong, 0);
	duet_close(&d);
	close(crowd.fd);
}

static void calls__outside_of_routines(void **state)
{
	char path[80], byte = 'x';
	struct iovec one = { &byte, 1 };
	int fd;

	(void)state;
	snprintf(path, sizeof(path), "%s/outside", dir);
	fd = tux_openat(AT_FDCWD, path, O_RDWR | O_CREAT, 0600);
	assert_true(fd >= 0);
	assert_int_equal(tux_pwrite(fd, &byte, 1, 9), 1);
	assert_int_equal(tux_pread(fd, &byte, 1, 8), 1);
	assert_int_equal(byte, 0);
	assert_int_equal(tux_preadv(fd, &one, -1, 0), -1);
	assert_int_equal(errno, EINVAL);
	assert_int_equal(tux_preadv(fd, NULL, 1, 0), -1);
	assert_int_equal(errno, EFAULT);
	assert_int_equal(tux_fsync(fd), 0);
	assert_int_equal(tux_close_file(fd), 0);
	assert_int_equal(tux_close_file(fd), -1);
	assert_int_equal(errno, EBADF);
}

/* ---- calls that wait ---- */

static struct {
	_Atomic unsigned ran, over;
	char *p;			/* the kernel waits for this memory */
	int uffd, fd;
	ssize_t got;
} slow;

/* Bytes of a file arrive in memory whose pages the kernel waits for.  It is a
 * file of which the kernel cannot tell whether it has them: a worker of the
 * ring reads it. */
static void slow_open(void)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register reg = { .mode = UFFDIO_REGISTER_MODE_MISSING };

	memset(&slow, 0, sizeof(slow));
	slow.uffd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
	if (slow.uffd < 0)
		skip();
	slow.p = mmap(NULL, SLOW, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(slow.p, MAP_FAILED);
	reg.range.start = (uintptr_t)slow.p;
	reg.range.len = SLOW;
	assert_int_equal(ioctl(slow.uffd, UFFDIO_API, &api), 0);
	assert_int_equal(ioctl(slow.uffd, UFFDIO_REGISTER, &reg), 0);
	slow.fd = (int)syscall(SYS_memfd_create, "slow", 0);
	assert_int_equal(ftruncate(slow.fd, SLOW), 0);
	assert_int_equal(pwrite(slow.fd, "end", 3, SLOW - 3), 3);
}

static void slow_release(void)
{
	struct uffdio_range all = { (uintptr_t)slow.p, SLOW };

	assert_int_equal(ioctl(slow.uffd, UFFDIO_UNREGISTER, &all), 0);
}

static void slow_close(void)
{
	munmap(slow.p, SLOW);
	close(slow.uffd);
	close(slow.fd);
}

static void read_slowly(void *arg)
{
	(void)arg;
	slow.got = tux_pread(slow.fd, slow.p, SLOW, 0);
	atomic_fetch_add(&slow.over, 1);
}

static void run_beside(void *arg)
{
	(void)arg;
	atomic_fetch_add(&slow.ran, 1);
}

/* The kernel has told of the missing page: so a thread waits for it. */
static void await_fault(void)
{
	struct uffd_msg m;

	assert_int_equal(read(slow.uffd, &m, sizeof(m)), sizeof(m));
	assert_int_equal(m.event, UFFD_EVENT_PAGEFAULT);
}

static void others_run(uint64_t slice_ns)
{
	struct duet d;
	unsigned i;

	slow_open();
	open_both(&d, slice_ns);
	assert_int_equal(tux_go(d.server.t, read_slowly, NULL), 0);
	await_fault();
	for (i = 0; i < 100; i++)
		part_do(&d.server, run_beside, NULL);
	assert_int_equal(slow.ran, 100);
	assert_int_equal(slow.over, 0);
	slow_release();
	await(&slow.over, 1);
	assert_int_equal(slow.got, SLOW);
	assert_memory_equal(slow.p + SLOW - 3, "end", 3);
	assert_int_equal(counts_of(&d).file_calls, has_ring());
	duet_close(&d);
	slow_close();
}

static void wait__others_run(void **state)
{
	(void)state;
	others_run(0);
}

static void wait__others_run_without_slices(void **state)
{
	(void)state;
	others_run(TUX_NO_SLICE);
}

static void *release_late(void *arg)
{
	(void)arg;
	usleep(50000);
	slow_release();
	return NULL;
}

/* The kernel writes into the memory until the call is over. */
static void close__waits_for_calls(void **state)
{
	pthread_t late;
	struct duet d;

	(void)state;
	slow_open();
	open_both(&d, 0);
	assert_int_equal(tux_go(d.server.t, read_slowly, NULL), 0);
	await_fault();
	assert_int_equal(pthread_create(&late, NULL, release_late, NULL), 0);
	duet_close(&d);
	assert_int_equal(slow.over, 1);
	assert_int_equal(slow.got, SLOW);
	pthread_join(late, NULL);
	slow_close();
}

/* In a routine that does not return. */
static void sync_for_ever(void *arg)
{
	for (;;) {
		tux_fdatasync(*(int *)arg);
		atomic_fetch_add(&slow.ran, 1);
	}
}

static void close__ends_a_loop_of_calls(void **state)
{
	int fd = open_scratch("loop");
	struct duet d;

	(void)state;
	slow.ran = 0;
	open_both(&d, 0);
	assert_int_equal(tux_go(d.server.t, sync_for_ever, &fd), 0);
	await(&slow.ran, 100);
	duet_close(&d);
	close(fd);
}

/* ---- the thread, the process ---- */

struct first {
	struct tux *t;
	_Atomic unsigned ran;		/* tux_run() has returned */
	_Atomic bool ends;
};

/* Runs the stack, and then waits until it may end. */
static void *first_runs(void *arg)
{
	struct first *f = arg;

	tux_run(f->t);
	atomic_store(&f->ran, 1);
	while (!atomic_load(&f->ends))
		usleep(1000);
	return NULL;
}

static void *second_runs(void *arg)
{
	return (void *)(intptr_t)tux_run(arg);
}

/* The kernel ends what the thread has under way, when the thread ends. */
static void end_first(struct first *f, pthread_t thread)
{
	atomic_store(&f->ends, true);
	pthread_join(thread, NULL);
}

/* The first has a call under way, and another thread goes on with the stack. */
static void thread__changes(void **state)
{
	struct tux_opts o = options(0);
	struct first f = { .ran = 0 };
	pthread_t first, second;

	(void)state;
	slow_open();
	assert_int_equal(tux_open(&f.t, &o), 0);
	assert_int_equal(pthread_create(&first, NULL, first_runs, &f), 0);
	assert_int_equal(tux_go(f.t, read_slowly, NULL), 0);
	await_fault();
	tux_stop(f.t);
	await(&f.ran, 1);
	assert_int_equal(pthread_create(&second, NULL, second_runs, f.t), 0);
	slow_release();
	await(&slow.over, 1);
	assert_int_equal(slow.got, SLOW);
	assert_memory_equal(slow.p + SLOW - 3, "end", 3);
	end_first(&f, first);
	tux_stop(f.t);
	pthread_join(second, NULL);
	tux_close(f.t);
	slow_close();
}

/* The first ends while a call is under way that it has begun. */
static void thread__ends(void **state)
{
	struct tux_opts o = options(0);
	struct first f = { .ran = 0 };
	pthread_t first, second, late;

	(void)state;
	slow_open();
	assert_int_equal(tux_open(&f.t, &o), 0);
	assert_int_equal(pthread_create(&first, NULL, first_runs, &f), 0);
	assert_int_equal(tux_go(f.t, read_slowly, NULL), 0);
	await_fault();
	tux_stop(f.t);
	await(&f.ran, 1);
	assert_int_equal(pthread_create(&late, NULL, release_late, NULL), 0);
	end_first(&f, first);
	pthread_join(late, NULL);
	assert_int_equal(pthread_create(&second, NULL, second_runs, f.t), 0);
	await(&slow.over, 1);
	assert_int_equal(slow.got, SLOW);
	assert_memory_equal(slow.p + SLOW - 3, "end", 3);
	tux_stop(f.t);
	pthread_join(second, NULL);
	tux_close(f.t);
	slow_close();
}

struct child {
	bool shares;			/* the memory of its parent */
	pid_t pid;
	int fd;
};

/* Before it would execute another program. */
static void use_files(int fd)
{
	char byte;

	if (tux_pread(fd, &byte, 1, SLOW - 1) != 1 || byte != 'd' ||
	    tux_fsync(fd) || tux_close_file(fd))
		_exit(1);
	_exit(0);
}

static void make_child(void *arg)
{
	struct child *c = arg;

	tux_pread(c->fd, &(char){ 0 }, 1, 0);
	c->pid = c->shares ? vfork() : fork();
	if (!c->pid)
		use_files(c->fd);
}

static void uses_files_in_a_child(bool shares)
{
	struct child c = { .shares = shares };
	struct duet d;
	int status;

	c.fd = open_scratch("child");
	assert_int_equal(pwrite(c.fd, "d", 1, SLOW - 1), 1);
	open_both(&d, 0);
	part_do(&d.server, make_child, &c);
	assert_true(c.pid > 0);
	assert_int_equal(waitpid(c.pid, &status, 0), c.pid);
	assert_int_equal(status, 0);
	duet_close(&d);
	close(c.fd);
}

static void child__uses_files(void **state)
{
	(void)state;
	uses_files_in_a_child(false);
}

static void child__that_shares_memory_uses_files(void **state)
{
	(void)state;
	uses_files_in_a_child(true);
}

/* ---- without a ring ---- */

/* From now on the thread gets EPERM from system call @number. */
static bool forbid(unsigned number)
{
	struct sock_filter f[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog p = { N_OF(f), f };

	return !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) &&
	       !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &p);
}

struct sandbox {
	int fd;
	bool forbidden;
	ssize_t before, after;
};

static void read_in_sandbox(void *arg)
{
	struct sandbox *s = arg;
	char byte;

	s->before = tux_pread(s->fd, &byte, 1, 0);
	s->forbidden = forbid(SYS_io_uring_enter);
	s->after = tux_pread(s->fd, &byte, 1, 0);
}

static void ring__that_is_forbidden_later(void **state)
{
	struct sandbox s = { .fd = open_scratch("sandbox") };
	struct duet d;

	(void)state;
	assert_int_equal(pwrite(s.fd, "x", 1, 0), 1);
	open_both(&d, 0);
	part_do(&d.server, read_in_sandbox, &s);
	assert_int_equal(s.before, 1);
	assert_int_equal(s.after, 1);
	assert_true(s.forbidden);
	assert_int_equal(counts_of(&d).file_calls, has_ring());
	duet_close(&d);
	close(s.fd);
}

static const struct CMUnitTest everywhere[] = {
	cmocka_unit_test(calls__do_as_libc),
	cmocka_unit_test(calls__do_as_libc_without_slices),
	cmocka_unit_test(calls__use_the_ring),
	cmocka_unit_test(calls__of_many_routines),
	cmocka_unit_test(calls__outside_of_routines),
	cmocka_unit_test(wait__others_run),
	cmocka_unit_test(wait__others_run_without_slices),
	cmocka_unit_test(close__waits_for_calls),
	cmocka_unit_test(close__ends_a_loop_of_calls),
	cmocka_unit_test(thread__changes),
	cmocka_unit_test(thread__ends),
	cmocka_unit_test(child__uses_files),
	cmocka_unit_test(child__that_shares_memory_uses_files),
	cmocka_unit_test(ring__that_is_forbidden_later),
};

static void make_disk(unsigned twin)
{
	char path[80], size[40];

	snprintf(path, sizeof(path), "%s/disk.%u", dir, twin);
	snprintf(size, sizeof(size), "size=%d", DISK);
	if (mkdir(path, 0700) || mount("disk", path, "tmpfs", 0, size))
		print_message("# no small disk: %s\n", strerror(errno));
}

/* Mounts, and with them the directory's, are this process's own. */
static int set_up(void **state)
{
	(void)state;
	signal(SIGXFSZ, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	snprintf(dir, sizeof(dir), "/tmp/tux-file.XXXXXX");
	if (!mkdtemp(dir))
		return -1;
	if (unshare(CLONE_NEWNS) ||
	    mount("", "/", "", MS_REC | MS_PRIVATE, NULL)) {
		print_message("# no mounts: %s\n", strerror(errno));
		return 0;
	}
	make_disk(0);
	make_disk(1);
	return 0;
}

static int tear_down(void **state)
{
	char command[200];

	(void)state;
	snprintf(command, sizeof(command), "umount %s/disk.* 2>/dev/null; "
		 "rm -r %s", dir, dir);
	return system(command) ? -1 : 0;
}

int main(void)
{
	int failed = cmocka_run_group_tests(everywhere, set_up, tear_down);

	forbidden = forbid(SYS_io_uring_setup);
	if (!forbidden)
		return failed;
	return failed + cmocka_run_group_tests_name("without io_uring",
						    everywhere, set_up,
						    tear_down);
}
