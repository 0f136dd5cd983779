/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Mutexes of every kind, rwlocks, and a queue with conditions and a semaphore,
 * shared with plain threads.  Whoever holds a lock is preempted as others are.
 */
#include "torture.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <time.h>

/* ---- mutexes ----------------------------------------------------------- */

enum {
	KINDS = 5,
};

/* The halves differ only while somebody holds the lock. */
struct ward {
	pthread_mutex_t mutex;
	volatile uint64_t one, other;
};

static struct ward ward[KINDS];
static pthread_mutex_t sum_mutex = PTHREAD_MUTEX_INITIALIZER;
static uint64_t turns;			/* what the hands say they did */

static const char *mutex_open(void)
{
	static const int type[KINDS] = {
		PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_ERRORCHECK,
		PTHREAD_MUTEX_RECURSIVE, PTHREAD_MUTEX_ADAPTIVE_NP,
		PTHREAD_MUTEX_NORMAL,
	};
	pthread_mutexattr_t a;
	int i;

	for (i = 0; i < KINDS; i++) {
		pthread_mutexattr_init(&a);
		pthread_mutexattr_settype(&a, type[i]);
		if (i == KINDS - 1)
			pthread_mutexattr_setrobust(&a, PTHREAD_MUTEX_ROBUST);
		pthread_mutex_init(&ward[i].mutex, &a);
		pthread_mutexattr_destroy(&a);
	}
	return NULL;
}

static int take(struct hand *h, pthread_mutex_t *m)
{
	struct timespec until;

	switch (hand_below(h, 4)) {
	case 0:
		return pthread_mutex_trylock(m);
	case 1:
		clock_gettime(CLOCK_REALTIME, &until);
		until.tv_sec += 60;
		return pthread_mutex_timedlock(m, &until);
	default:
		return pthread_mutex_lock(m);
	}
}

static void mutex_step(struct hand *h)
{
	unsigned kind = hand_below(h, KINDS);
	struct ward *w = &ward[kind];
	int err = take(h, &w->mutex);

	if (err == EBUSY) {
		torture_linger(h, 500);
		return;
	}
	must(!err && w->one == w->other);
	w->one++;
	torture_linger(h, 1000);
	if (kind == 1)
		must(pthread_mutex_lock(&w->mutex) == EDEADLK);
	if (kind == 2) {
		must(!pthread_mutex_lock(&w->mutex));
		torture_linger(h, 200);
		must(!pthread_mutex_unlock(&w->mutex));
	}
	w->other++;
	must(w->one == w->other);
	must(!pthread_mutex_unlock(&w->mutex));
	if (kind == 1)
		must(pthread_mutex_unlock(&w->mutex) == EPERM);
	h->n++;
	torture_linger(h, 500);
}

static void mutex_leave(struct hand *h)
{
	pthread_mutex_lock(&sum_mutex);
	turns += h->n;
	pthread_mutex_unlock(&sum_mutex);
}

static void mutex_close(void)
{
	uint64_t sum = 0;
	int i;

	for (i = 0; i < KINDS; i++) {
		sum += ward[i].one;
		must(!pthread_mutex_destroy(&ward[i].mutex));
	}
	must(sum == turns);
}

const struct work work_mutex = {
	.name = "mutex", .hands = 4, .thread = true,
	.open = mutex_open, .step = mutex_step, .leave = mutex_leave,
	.close = mutex_close,
};

/* ---- rwlocks ----------------------------------------------------------- */

static pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
static volatile uint64_t left, right;
static uint64_t writes;

static void rwlock_step(struct hand *h)
{
	uint64_t seen;

	if (hand_below(h, 4)) {
		must(!pthread_rwlock_rdlock(&rw));
		seen = left;
		torture_linger(h, 1000);
		must(left == seen && right == seen);
	} else {
		must(!pthread_rwlock_wrlock(&rw));
		left++;
		torture_linger(h, 500);
		right++;
		must(left == right);
		h->n++;
	}
	must(!pthread_rwlock_unlock(&rw));
	torture_linger(h, 500);
}

static void rwlock_leave(struct hand *h)
{
	pthread_rwlock_wrlock(&rw);
	writes += h->n;
	pthread_rwlock_unlock(&rw);
}

static void rwlock_close(void)
{
	must(left == right && left == writes);
}

const struct work work_rwlock = {
	.name = "rwlock", .hands = 3, .thread = true,
	.step = rwlock_step, .leave = rwlock_leave, .close = rwlock_close,
};

/* ---- a queue ------------------------------------------------------------ */

/*
 * Whoever finds it full takes, whoever finds it empty gives, and waits now and
 * then, with a limit, for the other to have happened.
 */
enum {
	ROOM = 16,
};

static pthread_mutex_t queue_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static uint64_t item[ROOM], put_n, taken_n, put_sum, taken_sum;
static sem_t token;
static uint64_t posted, waited;

static const char *queue_open(void)
{
	return sem_init(&token, 0, 0) ? "no semaphore" : NULL;
}

static void wait_for_change(void)
{
	uint64_t before = put_n + taken_n;
	struct timespec until;
	int err = 0;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += 2000000;
	if (until.tv_nsec >= 1000000000) {
		until.tv_nsec -= 1000000000;
		until.tv_sec++;
	}
	while (put_n + taken_n == before && !err)
		err = pthread_cond_timedwait(&changed, &queue_mutex, &until);
	must(!err || err == ETIMEDOUT);
}

static void put(uint64_t value)
{
	item[put_n++ % ROOM] = value;
	put_sum += value;
}

static void queue_step(struct hand *h)
{
	bool give;

	must(!pthread_mutex_lock(&queue_mutex));
	give = put_n == taken_n ||
	       (put_n - taken_n < ROOM && hand_below(h, 2));
	if (give)
		put(hand_random(h));
	else
		taken_sum += item[taken_n++ % ROOM];
	torture_linger(h, 300);
	must(put_n - taken_n <= ROOM);
	pthread_cond_broadcast(&changed);
	if (hand_below(h, 64) == 0)
		wait_for_change();
	must(!pthread_mutex_unlock(&queue_mutex));

	if (give) {
		must(!sem_post(&token));
		__atomic_fetch_add(&posted, 1, __ATOMIC_RELAXED);
	} else {
		/* Who put what was taken here has posted, or is about to. */
		while (sem_wait(&token))
			must(errno == EINTR);
		__atomic_fetch_add(&waited, 1, __ATOMIC_RELAXED);
	}
	torture_linger(h, 500);
}

static void queue_close(void)
{
	int left_over;

	while (taken_n < put_n)
		taken_sum += item[taken_n++ % ROOM];
	must(taken_sum == put_sum);
	must(!sem_getvalue(&token, &left_over));
	must((uint64_t)left_over == posted - waited);
	sem_destroy(&token);
}

const struct work work_queue = {
	.name = "queue", .hands = 3, .thread = true,
	.open = queue_open, .step = queue_step, .close = queue_close,
};
