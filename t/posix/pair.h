/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pair - both ends of a TCP connection in one process, and cases to run on them
 *
 * The tests of readiness say what the kernel does.  Run plainly they check
 * themselves; under tuxrun -i lo they check the preload, on connections that
 * are new and on connections that have moved to Tux.
 */
#ifndef TUX_T_POSIX_PAIR_H
#define TUX_T_POSIX_PAIR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/types.h>

/* What is to happen in the end happens in this time, also on a machine that is
 * late. */
enum { PAIR_PATIENCE_MS = 30000 };

struct pair {
	int a;			/* the accepted end */
	int b;			/* the connecting end */
};

/* Is this program under tuxrun? */
bool pair_preloaded(void);

/* A connection over loopback, both ends non-blocking.  With @moved, it has
 * carried enough to be on Tux, if the preload is there.  All are of IPv4, if
 * PAIR_FAMILY in the environment does not say other. */
void pair_open(struct pair *p, bool moved);

/* As above, but neither end was ever read or written by us. */
void pair_fresh(struct pair *p);
void pair_move(struct pair *p);

/* Have both directions left TCP?  Eight bytes each way say so. */
bool pair_moved(struct pair *p);

/* Does byte @c go from @from to @to? */
bool pair_carries(int from, int to, char c);

/* @turns bytes go each way, one at a time. */
void pair_talk(struct pair *p, int turns);

/* Long bursts go both ways, until TCP carries them: @p does not stay on Tux for
 * them. */
void pair_return(struct pair *p);

void pair_close(struct pair *p);

/* A listening socket on loopback and its port. */
int pair_listen(uint16_t *port);

/* A non-blocking connect() to it, which goes on. */
int pair_dial(uint16_t port);

/* The same in two steps. */
int pair_socket(void);
void pair_connect(int fd, uint16_t port);

/* Waits until @n bytes can be read from @fd, for PAIR_PATIENCE_MS at most. */
bool pair_arrive(int fd, int n);

/* Reads all there is; how much. */
size_t pair_drain(int fd);

/* Writes until it would block; how much. */
size_t pair_fill(int fd);

/* Writes one byte. */
void pair_poke(int fd);

/* Reads until @n bytes have come, for PAIR_PATIENCE_MS at most. */
bool pair_expect(int fd, size_t n);

/* ---- epoll ------------------------------------------------------------ */

int pair_epoll(void);

/* epoll_ctl(): 0 or errno; the data is @fd. */
int pair_add(int ep, int fd, uint32_t events);
int pair_mod(int ep, int fd, uint32_t events);
int pair_del(int ep, int fd);

/* One epoll_wait() of @ms, for up to 8 events: those of @fd, 0 if there are
 * none. */
uint32_t pair_seen(int ep, int fd, int ms);

/* Waits up to PAIR_PATIENCE_MS until @fd's events contain all of @events:
 * those. */
uint32_t pair_until(int ep, int fd, uint32_t events);

/* ---- cases ------------------------------------------------------------ */

/* Milliseconds on the monotonic clock. */
double pair_ms(void);

/* In how many milliseconds what should take @ms has to end: @ms in a thorough
 * run, else PAIR_PATIENCE_MS. */
double pair_bound(double ms);

/* Waits until thread @tid of this process sleeps, for PAIR_PATIENCE_MS at
 * most. */
void pair_await_asleep(pid_t tid);

/* Runs @fn on a new and on a moved connection, and says so. */
void pair_case(const char *name, void (*fn)(struct pair *p));

/* Runs @fn once; it makes its own connections, if any. */
void pair_once(const char *name, void (*fn)(void));

/* Runs @fn on @p, which it closes then. */
void pair_report(const char *name, void (*fn)(struct pair *p), struct pair *p);

/* A case that cannot run here. */
void pair_skip(const char *name, const char *why);

/* The summary; what main() returns. */
int pair_done(void);

void pair_failed(const char *file, int line, const char *what);

/* If @ok is false the case has failed, and goes on. */
#define CHECK(ok) \
	((ok) ? (void)0 : pair_failed(__FILE__, __LINE__, #ok))

#endif
