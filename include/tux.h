/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tux.h - a network stack for databases that lives in the process
 *
 *	static void echo(struct tux_connection *c, struct tux_message *m,
 *			 unsigned n, void *arg)
 *	{
 *		for (unsigned i = 0; i < n; i++)
 *			tux_send(c, m[i].p, m[i].len, 0);
 *	}
 *
 *	struct tux *t;
 *	struct tux_service *s;
 *
 *	tux_open(&t, NULL);
 *	tux_service_new(t, &s);
 *	tux_on_message(s, echo, NULL);
 *	tux_listen(s, "10.0.0.1", 4433);
 *	tux_run(t);
 *
 * Errors    Functions that return int or ssize_t give 0 or a count, or a
 *	     negative errno.  A constructor hands its object out through an
 *	     argument.  A callback is told a positive errno, or 0.
 * Threads   The thread in tux_run(), or that calls tux_turn(), is the network
 *	     thread; callbacks run on it, in routines.  Unless a line says "any
 *	     thread", a call belongs there: into a callback, or before and
 *	     between turns.
 * Memory    What a callback is given is its own until it returns, unless a
 *	     line says how to keep it.
 * Time      Nanoseconds.
 * Fork      A child has none of it: calls on what it inherits say -EOWNERDEAD
 *	     or -ENOTCONN, and tux_close() does no harm.
 *
 * tux(7) has the model, and each call its page in section 3.
 */
#ifndef TUX_H
#define TUX_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TUX_API __attribute__((visibility("default")))
#define TUX_CHECK __attribute__((warn_unused_result))

struct tux;			/* a stack: an interface, a loop, its services */
struct tux_service;		/* callbacks, and the connections they serve */
struct tux_connection;		/* one peer */

struct tux_message {		/* one that has come */
	const void *p;		/* its bytes, in place */
	uint32_t len;
	uint32_t flags;		/* TUX_ORDERED, TUX_HELD */
	struct tux_connection *c;
	uint64_t ref;		/* the library's */
};

enum {				/* of messages */
	TUX_ORDERED = 0x01,	/* behind all earlier ordered ones */
	TUX_HELD = 0x80		/* tux_hold() was called for it */
};

/* ---- a stack ---------------------------------------------------------- */

enum tux_backend {
	TUX_BACKEND_XDP,	/* AF_XDP; where it cannot be had, TCP */
	TUX_BACKEND_UDP,	/* UDP sockets: no privilege, no secret */
	TUX_BACKEND_TCP		/* no Tux at all: no messages */
};

struct tux_opts {		/* all zero but size: the defaults */
	size_t size;		/* sizeof(struct tux_opts), as the caller knows it */
	const char *ifname;	/* only over this interface; NULL: any but lo */
	enum tux_backend backend;
	uint64_t slice_ns;	/* of a callback: 5000 to 1000000; 0: 100000;
				 * TUX_NO_SLICE: callbacks are not preempted */
	uint32_t message_max;	/* longest message out, and about the longest
				 * in; 0: 1 MiB; at most 8 MiB */
	uint32_t stack_len;	/* of a routine, bytes; 0: 256 KiB */
	uint32_t routines_max;	/* at a time; 0: 1024 */
	int spin;		/* not 0: never sleeps, for a thread that has a
				 * processor to itself; 0: if it paid lately, it
				 * looks around before it sleeps */
	/* One line of text, without a newline, on what goes wrong; may be told
	 * by any thread.  NULL: it goes to stderr. */
	void (*say)(const char *line, void *arg);
	void *say_arg;
};
#define TUX_NO_SLICE UINT64_MAX

/* Starts a stack into *@tp, with @o or, if that is NULL, the defaults.  Without
 * privilege, or where the interface is not to be had, the connections stay on
 * kernel TCP, which is said once.  -EINVAL: an option out of range; -ENOMEM,
 * -EMFILE, -EAGAIN (no thread), ...
 * Several network threads want several stacks.  Any thread. */
TUX_API int tux_open(struct tux **tp, const struct tux_opts *o) TUX_CHECK;

/* Ends it: listeners close; connections end as by tux_disconnect(), within a
 * second, and each is told gone; then services, connections and routines are no
 * more.  Not from a callback, nor while another thread uses the stack.  NULL is
 * fine. */
TUX_API void tux_close(struct tux *t);

/* Drives the stack until tux_stop().  0; -EBUSY: somebody drives it already, or
 * this is a callback; -EOWNERDEAD. */
TUX_API int tux_run(struct tux *t);

/* Has tux_run() return after the slice that it is in; if nobody runs, the next
 * tux_run() returns at once.  Any thread; also in a signal handler. */
TUX_API void tux_stop(struct tux *t);

/* A descriptor that is readable when tux_turn() has something to do, be it that
 * a timer is due: for poll(), epoll, libevent.  It stays the same, and the
 * stack's. */
TUX_API int tux_fd(const struct tux *t);

/* Takes in what has come, runs callbacks for about one slice, sends what can go;
 * never waits.  How many things it found; errors as of tux_run(). */
TUX_API int tux_turn(struct tux *t);

/* ---- services and their callbacks ------------------------------------- */

/* The connection is there.  The first callback, for accepted ones and for those
 * of tux_connect(). */
typedef void tux_open_fn(struct tux_connection *c, void *arg);

/* Bytes of the stream have come, or its end, or an error: tux_read() tells.
 * What is left unread stays; it is told again when more comes, or after
 * tux_again().  Now and then there is nothing: -EAGAIN. */
typedef void tux_stream_fn(struct tux_connection *c, void *arg);

/* @n messages have come, to be read in place until this returns: see
 * tux_hold(). */
typedef void tux_message_fn(struct tux_connection *c, struct tux_message *m,
			    unsigned n, void *arg);

/* There may be room again, after a call said -EAGAIN or took less than all. */
typedef void tux_room_fn(struct tux_connection *c, void *arg);

/* Message @ref of tux_sendv() or tux_commit() is settled: the peer's stack has
 * it (@err 0), or will not have it. */
typedef void tux_settled_fn(struct tux_connection *c, uint64_t ref, int err,
			    void *arg);

/* The last word of a connection, once for each that was accepted or that
 * tux_connect() gave.  @err is 0 after tux_disconnect(), and where the end of
 * the peer's stream disconnected by itself; ECONNABORTED after tux_abort();
 * EPROTO: the peer sent a stream, which this service does not take; ETIMEDOUT:
 * messages were not settled in time, or the peer has died; ESHUTDOWN: by
 * tux_close(); or what befell it: ECONNRESET, ECONNREFUSED, ...
 * What came before an error is delivered first.  Afterwards the handle is valid
 * for holders of tux_get() only, to whom calls say -ENOTCONN. */
typedef void tux_gone_fn(struct tux_connection *c, int err, void *arg);

/* A service of @t, without callbacks, into *@sp.  -ENOMEM, -EOWNERDEAD. */
TUX_API int tux_service_new(struct tux *t, struct tux_service **sp) TUX_CHECK;

/* Closes its listeners and ends its connections as by tux_disconnect(), to
 * which its callbacks are told still; the last one gone, it is no more.  NULL is
 * fine. */
TUX_API void tux_service_free(struct tux_service *s);

/* Set them before the service has connections.  NULL: none.
 * Without a stream callback, the end of the peer's stream disconnects when all
 * messages have been delivered, and bytes in it abort (EPROTO).  Messages travel
 * on connections of services that have a message or a settled callback. */
TUX_API void tux_on_open(struct tux_service *s, tux_open_fn *fn, void *arg);
TUX_API void tux_on_stream(struct tux_service *s, tux_stream_fn *fn, void *arg);
TUX_API void tux_on_message(struct tux_service *s, tux_message_fn *fn,
			    void *arg);
TUX_API void tux_on_room(struct tux_service *s, tux_room_fn *fn, void *arg);
TUX_API void tux_on_settled(struct tux_service *s, tux_settled_fn *fn,
			    void *arg);
TUX_API void tux_on_gone(struct tux_service *s, tux_gone_fn *fn, void *arg);

/* One callback at a time in all of the service, also while one is preempted,
 * sleeps or yields.  (One connection never has two.)  Before it has
 * connections. */
TUX_API void tux_set_serial(struct tux_service *s, int on);

/* Up to @n messages in one call of the message callback, 1 to 512; it is 32 at
 * first.  -EINVAL. */
TUX_API int tux_set_group(struct tux_service *s, unsigned n);

/* Listens at @host, a numeric IPv4 or IPv6 address; NULL or "*": any address of
 * both.  @port 0: one that is free, see tux_port().  -EINVAL: no such address;
 * -EADDRINUSE, -EADDRNOTAVAIL, -EACCES, -EMFILE, ... */
TUX_API int tux_listen(struct tux_service *s, const char *host, uint16_t port);

/* The same with TCP socket @fd, which is bound, and from then on the stack's.
 * If it listens already, peers were not told of Tux, and its connections stay
 * on TCP over xdp.  -ENOTSOCK, -EPROTONOSUPPORT (not TCP), ... */
TUX_API int tux_listen_fd(struct tux_service *s, int fd);

/* The port of its last listener; 0: it has none. */
TUX_API int tux_port(const struct tux_service *s);

/* Connects to numeric @host, with @user as the connection's; *@cp (may be NULL)
 * is the connection, already before open is told.  Until then, sends and writes
 * say -EAGAIN.  0, and then open or gone is told; an error, and nothing is:
 * -EINVAL, -ENETUNREACH, -EMFILE, -ENOBUFS (65,535 connections), ... */
TUX_API int tux_connect(struct tux_service *s, const char *host, uint16_t port,
			void *user, struct tux_connection **cp);

/* ---- a connection ------------------------------------------------------
 *
 * Its handle is valid from open (tux_connect()) until gone has returned.  Who
 * uses it from other threads, or longer, holds a reference: tux_get().
 */

/* Up to @n bytes of the stream into @p.  0: its end; -EAGAIN: none are there;
 * or the connection's error, after which it goes by itself.  Fewer than @n: no
 * more were there.  tux_peek() leaves them where they are. */
TUX_API ssize_t tux_read(struct tux_connection *c, void *p, size_t n);
TUX_API ssize_t tux_peek(struct tux_connection *c, void *p, size_t n);

/* How many bytes there are to read. */
TUX_API size_t tux_readable(const struct tux_connection *c);

/* Has the stream callback called again, whatever comes.  Any thread. */
TUX_API void tux_again(struct tux_connection *c);

/* Puts as many of the bytes into the stream as there is room for.  -EAGAIN:
 * there is none; after that, or fewer than all, the room callback is told.
 * -EPIPE after tux_shut(); the connection's error; -ENOTCONN.  Any thread. */
TUX_API ssize_t tux_write(struct tux_connection *c, const void *p, size_t n);
TUX_API ssize_t tux_writev(struct tux_connection *c, const struct iovec *iov,
			   int n);

/* Nothing more will be sent: the peer reads the end of the stream, behind all
 * messages.  What the peer sends comes still.  -ENOTCONN.  Any thread. */
TUX_API int tux_shut(struct tux_connection *c);

/* Ends it: what was written goes out, messages are waited for up to five
 * seconds, what comes in is lost; then gone is told.  From now on calls say
 * -ENOTCONN, and no callback but settled and gone comes.  Any thread. */
TUX_API void tux_disconnect(struct tux_connection *c);

/* Ends it at once; the peer gets a reset.  Any thread. */
TUX_API void tux_abort(struct tux_connection *c);

/* What tux_connect() or tux_set_user() attached; NULL at first. */
TUX_API void *tux_user(const struct tux_connection *c);
TUX_API void tux_set_user(struct tux_connection *c, void *user);

TUX_API struct tux_service *tux_service_of(const struct tux_connection *c);
TUX_API struct tux *tux_of(const struct tux_connection *c);

/* The peer's address as text into @host, of @n bytes (46 are enough), and its
 * port into *@port; either may be NULL.  -ENOSPC. */
TUX_API int tux_peer(const struct tux_connection *c, char *host, size_t n,
		     uint16_t *port);

/* One more reference, and one less.  All must be put before tux_close().  Any
 * thread that holds one, or a callback of the connection. */
TUX_API void tux_get(struct tux_connection *c);
TUX_API void tux_put(struct tux_connection *c);

/* ---- messages; all of these: any thread -------------------------------- */

/* Sends a copy of the @n bytes at @p as one message; @flags is 0 or
 * TUX_ORDERED.  Those sent before the peer is known to take messages wait.
 * -EAGAIN: no room now, the room callback is told; -EMSGSIZE: longer than
 * tux_send_max(); -EPROTONOSUPPORT: the peer has no Tux or takes none, the
 * service has neither a message nor a settled callback, or the interface cannot
 * be had; -EPIPE after tux_shut(); -ENOTCONN; -EINVAL; or the connection's
 * error. */
TUX_API int tux_send(struct tux_connection *c, const void *p, size_t n,
		     unsigned flags);

/* The same of a vector.  The message's name, for settled, into *@ref unless
 * NULL. */
TUX_API int tux_sendv(struct tux_connection *c, const struct iovec *iov, int n,
		      unsigned flags, uint64_t *ref);

/* A message that is built in place: @n bytes at *@pp are the caller's to fill
 * until tux_commit() sends them, or tux_cancel() does not.  Messages of up to
 * 16 KiB go in the order of these calls, longer ones too: one that is not
 * committed holds up those behind it.  Errors as of tux_send(). */
TUX_API int tux_reserve(struct tux_connection *c, size_t n, unsigned flags,
			void **pp, uint64_t *ref) TUX_CHECK;
TUX_API int tux_commit(struct tux_connection *c, uint64_t ref);

/* Wants @ref not to be sent.  0: settled will say whether that was in time
 * (ECANCELED) or not (0); -EALREADY: it is settled; -ENOTCONN. */
TUX_API int tux_cancel(struct tux_connection *c, uint64_t ref);

/* The longest message that may be sent, as far as is known; 0: none may. */
TUX_API size_t tux_send_max(const struct tux_connection *c);

/* Keeps message @m, and a reference to its connection, beyond the callback that
 * it was given to: copy the struct, have any thread read it, and answer.  In
 * that callback only.  Whoever holds messages holds up their sender: room comes
 * back in the order of sending. */
TUX_API void tux_hold(struct tux_message *m);

/* Done with a message that was held. */
TUX_API void tux_release(const struct tux_message *m);

/* ---- routines ---------------------------------------------------------- */

/* Runs @fn in a routine of its own on the network thread.  -ENOMEM,
 * -EOWNERDEAD.  Any thread. */
TUX_API int tux_go(struct tux *t, void (*fn)(void *arg), void *arg);

/* In a routine, lets the network and others go first, or sleeps for @ns; other
 * callbacks of the connection, or of the serial service, wait.  Elsewhere they
 * are sched_yield() and nanosleep().  Any thread. */
TUX_API void tux_yield(void);
TUX_API void tux_sleep(uint64_t ns);

/* Between these the routine is not preempted.  They nest.  Any thread. */
TUX_API void tux_uninterruptible_enter(void);
TUX_API void tux_uninterruptible_leave(void);

/* ---- looking -----------------------------------------------------------
 *
 * Each fills the first @size bytes of *@st, sizeof of the struct as the caller
 * knows it, and counts from the start.  -EINVAL: an odd size.
 */

struct tux_connection_stats {
	uint64_t tcp_tx, tcp_rx;	/* stream bytes over plain TCP */
	uint64_t frame_tx, frame_rx;	/* ... in frames of TCP, on the way
					 * back */
	uint64_t tux_tx, tux_rx;	/* ... over Tux */
	uint64_t message_tx, message_rx;	/* bytes of messages */
	uint64_t messages_tx, messages_rx;	/* that arrived there, here */
	uint64_t failed;		/* messages that did not arrive there */
	uint64_t packets_tx, packets_rx;
	uint64_t lost, resent, timeouts;	/* packets; of these */
	uint64_t backs;			/* times a direction left Tux */
	uint32_t reason;		/* why it is not on Tux: TUX_REASON_* of
					 * tux_reason_word() */
	uint8_t tx_on_tux, rx_on_tux;	/* what goes out, comes in: over Tux now? */
	uint8_t messages;		/* may be sent, as far as is known */
	uint8_t pad;
};

struct tux_loop_stats {
	uint64_t turns;
	uint64_t datagrams_rx, datagrams_tx;
	uint64_t packets_rx, packets_tx;
	uint64_t callbacks;		/* groups of messages count as one */
	uint64_t messages;		/* delivered */
	uint64_t routines, routines_now, routines_most;	/* started; there are,
					 * and were at most */
	uint64_t switches;		/* into routines */
	uint64_t preemptions;		/* of those that were over their slice */
	uint64_t yields;		/* by themselves */
	uint64_t blocked;		/* sleeps, waits */
	uint64_t sleeps;		/* of the network thread in the kernel */
	uint64_t slice_ns;		/* 0: callbacks are not preempted */
	uint64_t network_ns;		/* in turns that found something, and */
	uint64_t slices_ns;		/* in callbacks and what runs them */
};

struct tux_stats {
	uint64_t loops, services, listeners;
	uint64_t connections_now, connections;	/* accepted or connected */
	uint64_t on_tux_now, on_tux;	/* whose two directions are, were */
	uint64_t refused;		/* accepts that failed: EMFILE, ... */
	uint64_t backend;		/* enum tux_backend, as asked for */
};

/* Of connection @c; the last word on it is to be had in gone. */
TUX_API int tux_connection_stats(const struct tux_connection *c,
				 struct tux_connection_stats *st, size_t size);

/* Of loop @i: 0.  -EINVAL, too, for others. */
TUX_API int tux_loop_stats(const struct tux *t, unsigned i,
			   struct tux_loop_stats *st, size_t size);
TUX_API int tux_stats(const struct tux *t, struct tux_stats *st, size_t size);

/* The version of the library that runs, such as "0.1.0".  Any thread. */
TUX_API const char *tux_version(void);

/* The word (one token) and the sentence for @reason; never NULL.  Any thread. */
TUX_API const char *tux_reason_word(unsigned reason);
TUX_API const char *tux_reason_sentence(unsigned reason);

#ifdef __cplusplus
}
#endif

#endif
