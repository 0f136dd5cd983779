/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The socket, with the kernel's side of the rings played here: what is sent
 * arrives once and in order, no frame is lost, and indices may wrap.
 */
#include "afxdp/xsk.h"

#include <errno.h>
#include <net/if.h>
#include <pthread.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "../test.h"

enum {
	SIZE = 256,			/* slots of each ring */
	FRAMES = 512,
	ROUNDS = 200000,
	KEPT = 2 * TUX_XSK_BATCH,	/* free frames that build() leaves */
};

struct ring {
	uint32_t prod, cons, flags;
	union {
		uint64_t addr[SIZE];
		struct xdp_desc desc[SIZE];
	};
};

struct fake {
	struct tux_xsk x;
	struct ring fill, rx, tx, comp;
};

static struct xsk_ring_prod produced(struct ring *r, uint32_t at)
{
	r->prod = r->cons = at;
	return (struct xsk_ring_prod){
		.cached_prod = at, .cached_cons = at + SIZE, .mask = SIZE - 1,
		.size = SIZE, .producer = &r->prod, .consumer = &r->cons,
		.ring = r->desc, .flags = &r->flags,
	};
}

static struct xsk_ring_cons consumed(struct ring *r, uint32_t at)
{
	r->prod = r->cons = at;
	return (struct xsk_ring_cons){
		.cached_prod = at, .cached_cons = at, .mask = SIZE - 1,
		.size = SIZE, .producer = &r->prod, .consumer = &r->cons,
		.ring = r->desc, .flags = &r->flags,
	};
}

/* With @frames frames, SIZE of them in the kernel's hands to receive into, and
 * indices about to wrap. */
static void init_with(struct fake *f, uint32_t frames)
{
	uint32_t i, at = UINT32_MAX - 3;

	*f = (struct fake){ .x = { .fd = -1 } };
	assert_int_equal(tux_umem_init(&f->x.umem, frames), 0);
	f->x.fill = produced(&f->fill, at);
	f->x.tx = produced(&f->tx, at);
	f->x.rx = consumed(&f->rx, at);
	f->x.comp = consumed(&f->comp, at);
	assert_int_equal(xsk_ring_prod__reserve(&f->x.fill, SIZE, &at), SIZE);
	for (i = 0; i < SIZE; i++)
		*xsk_ring_prod__fill_addr(&f->x.fill, at + i) =
			TUX_UMEM_CHUNK *
			(uint64_t)tux_umem_get(&f->x.umem, TUX_UMEM_FILL);
	xsk_ring_prod__submit(&f->x.fill, SIZE);
}

static void init(struct fake *f)
{
	init_with(f, FRAMES);
}

static void fini(struct fake *f)
{
	tux_umem_fini(&f->x.umem);
}

/* ---- the kernel ---- */

/* A packet of @len bytes arrives; false: no frame, or no slot. */
static bool arrive(struct fake *f, uint32_t len)
{
	uint32_t p = f->rx.prod;
	uint64_t addr;

	if (__atomic_load_n(&f->fill.prod, __ATOMIC_ACQUIRE) == f->fill.cons ||
	    p - __atomic_load_n(&f->rx.cons, __ATOMIC_ACQUIRE) == SIZE)
		return false;
	addr = f->fill.addr[f->fill.cons % SIZE];
	__atomic_store_n(&f->fill.cons, f->fill.cons + 1, __ATOMIC_RELEASE);
	f->rx.desc[p % SIZE] = (struct xdp_desc){ .addr = addr, .len = len };
	__atomic_store_n(&f->rx.prod, p + 1, __ATOMIC_RELEASE);
	return true;
}

/* Sends one packet; its length, or 0: there is none, or no slot. */
static uint32_t leave(struct fake *f)
{
	uint32_t p = f->comp.prod, len;

	if (__atomic_load_n(&f->tx.prod, __ATOMIC_ACQUIRE) == f->tx.cons ||
	    p - __atomic_load_n(&f->comp.cons, __ATOMIC_ACQUIRE) == SIZE)
		return 0;
	len = f->tx.desc[f->tx.cons % SIZE].len;
	f->comp.addr[p % SIZE] = f->tx.desc[f->tx.cons % SIZE].addr;
	__atomic_store_n(&f->tx.cons, f->tx.cons + 1, __ATOMIC_RELEASE);
	__atomic_store_n(&f->comp.prod, p + 1, __ATOMIC_RELEASE);
	return len;
}

/* ---- receiving ---- */

static void rx__gives_what_arrived(void **state)
{
	struct tux_xsk_frame got[TUX_XSK_BATCH];
	struct fake f;
	unsigned i;

	(void)state;
	init(&f);
	assert_int_equal(tux_xsk_rx(&f.x, got, 4), 0);
	for (i = 0; i < 6; i++)
		assert_true(arrive(&f, 100 + i));
	assert_int_equal(tux_xsk_rx(&f.x, got, 4), 4);
	for (i = 0; i < 4; i++)
		assert_int_equal(got[i].len, 100 + i);
	assert_int_equal(tux_xsk_rx(&f.x, got, 4), 2);
	assert_int_equal(got[0].len, 104);
	assert_int_equal(f.rx.cons, f.rx.prod);
	assert_int_equal(tux_xsk_rx(&f.x, got, 4), 0);
	fini(&f);
}

/* Half of all frames are always the kernel's, however many arrive. */
static void rx__gives_frames_back(void **state)
{
	struct tux_xsk_frame got[TUX_XSK_BATCH];
	struct fake f;
	unsigned i;

	(void)state;
	init(&f);
	for (i = 0; i < 2 * FRAMES; i++) {
		assert_true(arrive(&f, 1));
		assert_int_equal(tux_xsk_rx(&f.x, got, TUX_XSK_BATCH), 1);
		assert_int_equal(f.fill.prod - f.fill.cons, SIZE);
	}
	assert_int_equal(tux_umem_count(&f.x.umem, TUX_UMEM_HELD), 1);
	assert_int_equal(tux_xsk_rx(&f.x, got, TUX_XSK_BATCH), 0);
	assert_int_equal(f.x.umem.free_n, FRAMES - SIZE);
	fini(&f);
}

static void rx__nudges_a_kernel_that_sleeps(void **state)
{
	struct tux_xsk_frame got[TUX_XSK_BATCH];
	struct tux_tally t = { 0 };
	struct fake f;

	(void)state;
	init(&f);
	f.fill.flags = XDP_RING_NEED_WAKEUP;
	assert_true(arrive(&f, 1));
	assert_int_equal(tux_xsk_rx(&f.x, got, TUX_XSK_BATCH), 1);
	tux_xsk_count(&f.x, &t);
	assert_int_equal(t.nudges, 1);
	fini(&f);
}

/* ---- sending ---- */

static void send__is_shown_by_kick(void **state)
{
	struct fake f;
	uint32_t before;
	unsigned i;

	(void)state;
	init(&f);
	before = f.tx.prod;
	for (i = 0; i < 6; i++)
		tux_xsk_send(&f.x, tux_xsk_build(&f.x), 16, 200 + i);
	assert_int_equal(f.tx.prod, before);
	assert_int_equal(tux_xsk_kick(&f.x), 0);
	assert_int_equal(f.tx.prod - before, 6);
	assert_int_equal(f.tx.desc[before % SIZE].addr % TUX_UMEM_CHUNK, 16);
	for (i = 0; i < 6; i++)
		assert_int_equal(leave(&f), 200 + i);
	assert_int_equal(leave(&f), 0);
	assert_int_equal(tux_xsk_kick(&f.x), 0);
	assert_int_equal(leave(&f), 0);
	fini(&f);
}

/* Some are kept for receiving; what was sent can be built in again. */
static void build__ends_when_all_are_under_way(void **state)
{
	unsigned i, room = FRAMES - SIZE - KEPT;
	struct fake f;

	(void)state;
	init(&f);
	for (i = 0; i < room; i++)
		tux_xsk_send(&f.x, tux_xsk_build(&f.x), 0, 60);
	assert_int_equal(tux_xsk_build(&f.x), TUX_UMEM_NONE);
	assert_int_equal(tux_xsk_kick(&f.x), 0);
	assert_int_equal(tux_xsk_build(&f.x), TUX_UMEM_NONE);
	assert_int_equal(leave(&f), 60);
	assert_int_not_equal(tux_xsk_build(&f.x), TUX_UMEM_NONE);
	assert_int_equal(tux_xsk_build(&f.x), TUX_UMEM_NONE);
	fini(&f);
}

static void build__ends_when_the_ring_is_full(void **state)
{
	unsigned i, room = SIZE - 1;	/* it leaves one slot free */
	struct fake f;

	(void)state;
	init_with(&f, 4 * FRAMES);
	for (i = 0; i < room; i++)
		tux_xsk_send(&f.x, tux_xsk_build(&f.x), 0, 60);
	assert_int_equal(tux_xsk_build(&f.x), TUX_UMEM_NONE);
	assert_int_equal(tux_xsk_kick(&f.x), 0);
	assert_int_equal(tux_xsk_build(&f.x), TUX_UMEM_NONE);
	assert_int_equal(leave(&f), 60);
	assert_int_not_equal(tux_xsk_build(&f.x), TUX_UMEM_NONE);
	fini(&f);
}

static void kick__says_what_is_wrong(void **state)
{
	struct fake f;

	(void)state;
	init(&f);
	f.tx.flags = XDP_RING_NEED_WAKEUP;
	assert_int_equal(tux_xsk_kick(&f.x), 0);
	tux_xsk_send(&f.x, tux_xsk_build(&f.x), 0, 60);
	assert_int_equal(tux_xsk_kick(&f.x), -EBADF);
	fini(&f);
}

/* A kick is a system call as long as the kernel has not taken all, and only then. */
static void kick__until_all_is_sent(void **state)
{
	struct fake f;
	uint64_t kicks;

	(void)state;
	init(&f);
	f.tx.flags = XDP_RING_NEED_WAKEUP;
	tux_xsk_send(&f.x, tux_xsk_build(&f.x), 0, 60);
	assert_int_equal(tux_xsk_kick(&f.x), -EBADF);
	assert_int_equal(tux_xsk_kick(&f.x), -EBADF);
	assert_int_equal(leave(&f), 60);
	kicks = f.x.did.kicks;
	assert_int_equal(kicks, 2);
	assert_int_equal(tux_xsk_kick(&f.x), 0);
	assert_int_equal(tux_xsk_kick(&f.x), 0);
	assert_int_equal(f.x.did.kicks, kicks);
	tux_xsk_send(&f.x, tux_xsk_build(&f.x), 0, 60);
	assert_int_equal(tux_xsk_kick(&f.x), -EBADF);
	fini(&f);
}

static void count__knows_where_each_frame_is(void **state)
{
	struct tux_xsk_frame got[TUX_XSK_BATCH];
	struct tux_tally t = { 0 };
	struct fake f;
	unsigned i;

	(void)state;
	init(&f);
	for (i = 0; i < 5; i++)
		assert_true(arrive(&f, 60));
	assert_int_equal(tux_xsk_rx(&f.x, got, 2), 2);
	for (i = 0; i < 4; i++)
		assert_true(arrive(&f, 60));
	for (i = 0; i < 3; i++)
		tux_xsk_send(&f.x, tux_xsk_build(&f.x), 0, 60);
	tux_xsk_build(&f.x);
	tux_xsk_kick(&f.x);
	leave(&f);
	tux_xsk_count(&f.x, &t);
	assert_int_equal(t.fill, SIZE);
	assert_int_equal(t.held, 2);
	assert_int_equal(t.built, 1);
	assert_int_equal(t.sent, 2);
	assert_int_equal(t.fill + t.held + t.built + t.sent + t.free, FRAMES);
	assert_int_equal(t.rx, 2);
	assert_int_equal(t.tx, 3);
	fini(&f);
}

/* ---- both ---- */

/* Sends back what it gets, with the length that it had. */
static void *kernel(void *arg)
{
	struct fake *f = arg;
	uint32_t len, in = 0, out = 0;

	while (out < ROUNDS) {
		while (in < ROUNDS && arrive(f, in + 1))
			in++;
		while ((len = leave(f))) {
			if (len != out + 1)
				return arg;
			out++;
		}
	}
	return NULL;
}

static void two_threads__agree(void **state)
{
	struct tux_xsk_frame got[TUX_XSK_BATCH];
	static struct fake f;
	uint32_t i, n, next = 0;
	void *wrong;
	pthread_t t;

	(void)state;
	init(&f);
	assert_int_equal(pthread_create(&t, NULL, kernel, &f), 0);
	while (next < ROUNDS) {
		n = tux_xsk_rx(&f.x, got, 5);
		for (i = 0; i < n; i++) {
			uint16_t to;

			assert_int_equal(got[i].len, ++next);
			while ((to = tux_xsk_build(&f.x)) == TUX_UMEM_NONE)
				tux_xsk_kick(&f.x);
			tux_xsk_send(&f.x, to, 0, got[i].len);
		}
		tux_xsk_kick(&f.x);
	}
	pthread_join(t, &wrong);
	assert_null(wrong);
	fini(&f);
}

static void open__leaves_nothing_behind_when_it_fails(void **state)
{
	struct tux_xsk x;

	(void)state;
	/* Rings of no slots are refused; or there is no privilege. */
	assert_true(tux_xsk_open(&x, 1) < 0);
	assert_int_equal(x.fd, -1);
	assert_null(x.umem.mem);
	assert_null(x.map[0].p);
}

/* ---- binding ---- */

/* The index of the loopback interface of a network of our own; 0: there is no
 * privilege for that. */
static unsigned own_network(void)
{
	struct ifreq r = { .ifr_name = "lo", .ifr_flags = IFF_UP };
	int fd, err;

	if (unshare(CLONE_NEWNET) && unshare(CLONE_NEWUSER | CLONE_NEWNET))
		return 0;
	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	err = ioctl(fd, SIOCSIFFLAGS, &r);
	close(fd);
	return err ? 0 : if_nametoindex("lo");
}

/* The kernel closes the socket of the queue some time after we do. */
static int bind_at_last(struct tux_xsk *x, unsigned ifindex)
{
	unsigned i;
	int err = -EBUSY;

	for (i = 0; i < 30000 && err == -EBUSY; i++) {
		err = tux_xsk_bind(x, ifindex, 0, XDP_COPY);
		usleep(1000);
	}
	return err;
}

static void bind__may_be_tried_again(void **state)
{
	unsigned lo = own_network();
	struct tux_xsk has, wants;
	const uint8_t *mem;
	int fd;

	(void)state;
	if (!lo || tux_xsk_open(&has, FRAMES))
		skip();
	assert_int_equal(tux_xsk_bind(&has, lo, 0, XDP_COPY), 0);
	assert_int_equal(tux_xsk_open(&wants, FRAMES), 0);
	mem = wants.umem.mem;
	fd = wants.fd;
	assert_int_equal(tux_xsk_bind(&wants, lo, 0, XDP_COPY), -EBUSY);
	assert_int_equal(tux_xsk_bind(&wants, lo, 0, XDP_COPY), -EBUSY);
	tux_xsk_close(&has);
	assert_int_equal(bind_at_last(&wants, lo), 0);
	assert_ptr_equal(wants.umem.mem, mem);
	assert_int_equal(wants.fd, fd);
	assert_int_equal(wants.umem.free_n, FRAMES / 2);
	tux_xsk_close(&wants);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rx__gives_what_arrived),
		cmocka_unit_test(rx__gives_frames_back),
		cmocka_unit_test(rx__nudges_a_kernel_that_sleeps),
		cmocka_unit_test(send__is_shown_by_kick),
		cmocka_unit_test(build__ends_when_all_are_under_way),
		cmocka_unit_test(build__ends_when_the_ring_is_full),
		cmocka_unit_test(kick__says_what_is_wrong),
		cmocka_unit_test(kick__until_all_is_sent),
		cmocka_unit_test(count__knows_where_each_frame_is),
		cmocka_unit_test(two_threads__agree),
		cmocka_unit_test(open__leaves_nothing_behind_when_it_fails),
		cmocka_unit_test(bind__may_be_tried_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
