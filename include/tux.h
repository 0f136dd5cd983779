/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tux.h - a network stack for databases that lives in the process
 *
 *	static void echo(struct tux_connection *c, struct tux_message *m,
 *			 unsigned n, void *arg)
 *	{
 *		for (unsigned i = 0; i < n; i++)
 *			if (tux_send_wait(c, m[i].p, m[i].len, 0, TUX_FOREVER))
 *				return;		// gone will tell why
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
 * Errors    A function of type int or ssize_t returns 0 or a count, or a
 *	     negative errno.  A constructor stores its object through a pointer
 *	     argument.  A callback gets a positive errno, or 0 for success.
 * Threads   The network thread is the thread that calls tux_run() or
 *	     tux_turn().  Callbacks run on it, in routines.  A function may be
 *	     called in a callback, or by the network thread before and between
 *	     turns.  Other threads may call it only if its comment says "any
 *	     thread".  With several network threads, callbacks of different
 *	     connections run in parallel, and a function that takes a
 *	     connection belongs to the connection's own thread, unless its
 *	     comment says "any thread".  In a callback on another network thread
 *	     than the first, tux_listen(), tux_listen_fd() and
 *	     tux_service_free() wait for a turn of the first one, as tux_sleep()
 *	     would.
 * Memory    What a callback gets is valid until the callback returns, unless a
 *	     comment says how to keep it.  Strings and buffers that the caller
 *	     passes are not used after the call returns.
 * Time      Nanoseconds.
 * Fork      A child of fork() cannot use what it inherits: calls return
 *	     -EOWNERDEAD or -ENOTCONN, and tux_close() does nothing.
 *
 * tux(7) explains the model.  Section 3 of the manual has a page for each call.
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

struct tux;			/* a stack: its loops and its services */
struct tux_service;		/* callbacks, and the connections they serve */
struct tux_connection;		/* a connection with one peer */

struct tux_message {		/* a message that has arrived */
	const void *p;		/* its bytes, in memory of the library */
	uint32_t len;		/* bytes; may be 0 */
	uint32_t flags;		/* TUX_ORDERED, TUX_HELD */
	struct tux_connection *c;	/* the connection it arrived on */
	uint64_t ref;		/* for the library's use */
};

enum {				/* flags of messages */
	TUX_ORDERED = 0x01,	/* delivered after all earlier ordered ones */
	TUX_HELD = 0x80		/* tux_hold() was called for it */
};

#define TUX_FOREVER UINT64_MAX	/* of calls that wait: without a limit */

/* ---- a stack ---------------------------------------------------------- */

enum tux_backend {
	TUX_BACKEND_AUTO,	/* AF_XDP if the process may use it; else UDP
				 * with a secret key, if tuxd(8) is there; else
				 * TCP */
	TUX_BACKEND_XDP,	/* AF_XDP; TCP where AF_XDP cannot be used */
	TUX_BACKEND_UDP,	/* UDP sockets: no privilege, no secret key */
	TUX_BACKEND_TCP		/* kernel TCP only: no messages */
};

enum tux_use {
	TUX_USE_AUTO,		/* the path that is faster: first TCP, and Tux
				 * when requests and answers are short */
	TUX_USE_TUX,		/* Tux, whenever both ends can */
	TUX_USE_TCP		/* kernel TCP: no messages */
};

struct tux_opts {		/* zero in all fields but size: the defaults */
	size_t size;		/* sizeof(struct tux_opts) of the caller */
	const char *ifname;	/* only connections over this interface move to
				 * Tux; NULL: over any interface but lo */
	enum tux_backend backend;
	uint64_t slice_ns;	/* a callback that has run so long is preempted:
				 * 5000 to 1000000; 0: 100000; TUX_NO_SLICE:
				 * callbacks are not preempted, and others run
				 * meanwhile only if it calls this library */
	uint32_t message_max;	/* longest message that may be sent, bytes; sets
				 * the room for incoming ones, too; 0: 1 MiB; at
				 * most 8 MiB */
	uint32_t stack_len;	/* stack of a routine, bytes; 0: 256 KiB; less
				 * than 64 KiB counts as 64 KiB */
	uint32_t routines_max;	/* callbacks that may be preempted, blocked or
				 * asleep at the same time; 0: 1024 */
	int spin;		/* not 0: the network thread never sleeps, for
				 * the lowest latency; it needs a CPU of its
				 * own.  0: it polls for up to 50 us before it
				 * sleeps, if the last waits were short */
	/* Gets one line of text, without a newline, about something that does
	 * not work.  Any thread of the stack may call it.  NULL: the line goes
	 * to stderr. */
	void (*say)(const char *line, void *arg);
	void *say_arg;		/* passed to say */
	enum tux_use path;	/* of streams.  A connection with messages moves
				 * to Tux at once, unless this is TUX_USE_TCP */
	struct tux *beside;	/* a stack of another thread, which is open: the
				 * two share the interface, the port and the
				 * announced listeners; ifname, backend, path and
				 * message_max are those of that one.  NULL:
				 * shares with none */
	unsigned threads;	/* network threads, each with a loop, and
				 * connections, of its own: at most
				 * TUX_THREADS_MAX; 0: 1.  The first is the one
				 * that calls tux_run() or tux_turn(), the others
				 * are the library's */
	unsigned threads_min;	/* so many of the threads run at least, and
				 * more while these are busy: a thread may run
				 * several loops, or none.  At most `threads`; 0:
				 * all of them run, with a loop each */
};
#define TUX_NO_SLICE UINT64_MAX
#define TUX_THREADS_MAX 16

/* Starts a stack and stores it in *@tp.  A NULL @o means the defaults.  If the
 * backend cannot be used, for lack of privilege or because the interface is not
 * available, the stack starts all the same: its connections stay on kernel TCP,
 * and say() gets one line for each reason.  -EINVAL: an option is out of range;
 * -ENOMEM; -EMFILE; -EAGAIN: no thread could be started; -ESHUTDOWN, -EOWNERDEAD:
 * the one beside it is closed, or a parent's; or another errno of the kernel.
 * A program that runs its network threads itself opens a stack for each thread,
 * the others beside the first: only one stack can have an interface for AF_XDP.
 * Any thread. */
TUX_API int tux_open(struct tux **tp, const struct tux_opts *o) TUX_CHECK;

/* Ends a stack within a second; if calls of tux_block() take longer, when they
 * have returned.  Its listeners close, its connections end as by
 * tux_disconnect(), and the gone callback of each runs; then services,
 * connections and routines are freed, and references and held messages are
 * invalid.  The network thread calls it, outside of callbacks, when no other
 * thread uses the stack.  NULL is allowed. */
TUX_API void tux_close(struct tux *t);

/* Runs the stack until tux_stop() is called; its other network threads run as
 * long.  0; -EBUSY: a thread runs the stack already, or the caller is a
 * callback; -EOWNERDEAD. */
TUX_API int tux_run(struct tux *t);

/* Makes tux_run() return after the current slice.  If no thread is in
 * tux_run(), the next tux_run() returns at once.  Any thread, and signal
 * handlers. */
TUX_API void tux_stop(struct tux *t);

/* A descriptor that is readable when tux_turn() has something to do, a timer
 * included: for poll(), epoll or libevent.  It is the same one as long as the
 * stack exists, and the stack owns it.  -EOWNERDEAD. */
TUX_API int tux_fd(const struct tux *t);

/* Receives what has arrived, runs callbacks for about one slice, and sends what
 * can go.  It never sleeps.  Returns how many things it found to do; errors as
 * of tux_run().  Other network threads run from the first call on, until
 * tux_close(), or until tux_run() was called and has returned. */
TUX_API int tux_turn(struct tux *t);

/* ---- services and their callbacks ------------------------------------- */

/* The connection is established.  This is the first callback of an accepted
 * connection, so what it allocates is there in all others, and gone can free it.
 * It is also the first one of a connection that tux_connect() began or
 * tux_attach() made, unless that ends before: then gone is the only callback. */
typedef void tux_open_fn(struct tux_connection *c, void *arg);

/* Bytes of the stream have arrived, or its end, or an error: tux_read() tells
 * which.  Bytes that are not read stay, and the callback runs again when more
 * arrive, or the end, or an error, or after tux_again().  A callback that
 * leaves bytes unread until more come asks tux_ended() whether more will.  The
 * callback may run when there is nothing to read; tux_read() then returns
 * -EAGAIN. */
typedef void tux_stream_fn(struct tux_connection *c, void *arg);

/* @n messages have arrived.  Their bytes are read in place, and are valid until
 * the callback returns, or longer by tux_hold(). */
typedef void tux_message_fn(struct tux_connection *c, struct tux_message *m,
			    unsigned n, void *arg);

/* There may be room again.  It runs once after calls that returned -EAGAIN or
 * took fewer bytes than they were given. */
typedef void tux_room_fn(struct tux_connection *c, void *arg);

/* The fate of message @ref of tux_sendv() or tux_reserve() is known.  @err 0:
 * the peer's stack has acknowledged it; or, if the connection went back to TCP,
 * kernel TCP has taken it.  Else it failed with that errno. */
typedef void tux_settled_fn(struct tux_connection *c, uint64_t ref, int err,
			    void *arg);

/* The connection is over.  This is its last callback, and runs once for each
 * connection that tux_connect() began or tux_attach() made, and for each accepted
 * one for which open has run, or would have run if it were set.  An accepted
 * connection that ends before that, because the peer resets it or its service is
 * freed, has no callback at all.  @err says why:
 *
 *   0			tux_disconnect(); or the peer ended its stream, and the
 *			service has no stream callback
 *   ECONNABORTED	tux_abort()
 *   ESHUTDOWN		tux_close()
 *   ETIMEDOUT		messages were not settled in time, or the peer has died
 *   EPROTO		the peer sent stream bytes, and the service has no
 *			stream callback
 *   ECONNRESET		the peer reset the connection, or its process died
 *   EPIPE		the peer ended its stream, and then reset
 *   ECONNREFUSED, ...	what else the kernel or the peer's stack said
 *
 * What arrived before an error is delivered first.  When gone has returned,
 * only the holder of a reference (tux_get()) may use the handle, and calls with
 * it return -ENOTCONN. */
typedef void tux_gone_fn(struct tux_connection *c, int err, void *arg);

/* Makes a service of @t, without callbacks, and stores it in *@sp.  -ENOMEM,
 * -EOWNERDEAD. */
TUX_API int tux_service_new(struct tux *t, struct tux_service **sp) TUX_CHECK;

/* Closes the listeners of @s, and ends its connections as by tux_disconnect();
 * the callbacks of @s still run for them.  @s is freed with its last
 * connection.  NULL is allowed. */
TUX_API void tux_service_free(struct tux_service *s);

/* Each sets a callback and its @arg; a NULL @fn means none.  To be called
 * before the service has connections.
 * Without a stream callback, bytes from the peer abort the connection (EPROTO),
 * and the end of the peer's stream disconnects it, after its messages were
 * delivered.  Messages need a message callback or a settled callback at both
 * ends. */
TUX_API void tux_on_open(struct tux_service *s, tux_open_fn *fn, void *arg);
TUX_API void tux_on_stream(struct tux_service *s, tux_stream_fn *fn, void *arg);
TUX_API void tux_on_message(struct tux_service *s, tux_message_fn *fn,
			    void *arg);
TUX_API void tux_on_room(struct tux_service *s, tux_room_fn *fn, void *arg);
TUX_API void tux_on_settled(struct tux_service *s, tux_settled_fn *fn,
			    void *arg);
TUX_API void tux_on_gone(struct tux_service *s, tux_gone_fn *fn, void *arg);

/* If @on is not 0, the service runs one callback at a time: no other begins
 * until it returns, even while it is preempted, sleeps or yields.  (A
 * connection never has two callbacks at once, in any service.)  All its
 * connections are the first network thread's.  To be called before the service
 * has connections. */
TUX_API void tux_set_serial(struct tux_service *s, int on);

/* Delivers up to @n messages, 1 to 512, in one call of the message callback;
 * the default is 32.  -EINVAL. */
TUX_API int tux_set_group(struct tux_service *s, unsigned n);

/* Listens on the numeric IPv4 or IPv6 address @host; NULL or "*": on all
 * addresses of both families.  @port 0: the kernel chooses one, see tux_port().
 * -EINVAL: @host is not a numeric address; -EADDRINUSE, -EADDRNOTAVAIL,
 * -EACCES, -EMFILE, -ENOMEM, ...; -ESHUTDOWN: the service or the stack ends;
 * -EOWNERDEAD. */
TUX_API int tux_listen(struct tux_service *s, const char *host, uint16_t port);

/* Listens on the TCP socket @fd, which the caller has bound.  The stack owns
 * @fd if the call succeeds.  If the socket is listening already, its peers were
 * not told of Tux, and over xdp its connections stay on TCP.  -EBADF,
 * -ENOTSOCK; -EPROTONOSUPPORT: not TCP; else as tux_listen(). */
TUX_API int tux_listen_fd(struct tux_service *s, int fd);

/* The port of the service's last listener, in host byte order; 0: none. */
TUX_API int tux_port(const struct tux_service *s);

/* Tells the peers of the TCP socket @fd, which the program owns, that its
 * connections may move to Tux; tux_attach() takes them.  A socket that is bound
 * is a listener: announce it before listen(), or its peers may not be told.  It
 * stays announced until tux_unannounce(), which is due before @fd is closed.
 * If its connections cannot move, its peers are told why.  Any other socket is
 * announced before connect(), and needs no tux_unannounce().  0; -EBADF,
 * -ENOTSOCK; -EPROTONOSUPPORT: not TCP; -EISCONN; -ENOMEM; -ESHUTDOWN;
 * -EOWNERDEAD.  tux_unannounce(): -ENOENT: no listener that is announced;
 * -EOWNERDEAD.  Any thread. */
TUX_API int tux_announce(struct tux *t, int fd);
TUX_API int tux_unannounce(struct tux *t, int fd);

/* Makes a connection of the established TCP socket @fd, which the program has
 * accepted or connected by itself, and stores it in *@cp unless that is NULL;
 * @user is what tux_user() will return.  After 0 the stack owns @fd, and the
 * program no longer watches, reads, writes or closes it; callbacks run, as for an
 * accepted connection.  Bytes may have been read and written before.  The
 * connection can move to Tux if its listener, or @fd before connect(), was
 * announced.  SO_LINGER is switched off, and FD_CLOEXEC is set; all other options
 * stay.  The connection is the calling network thread's.  After an error nothing
 * has happened.  -EXDEV: @s is serial, and this is not the first network thread;
 * -EBADF, -ENOTSOCK; -EPROTONOSUPPORT: not TCP; -ENOTCONN: not established, or the
 * program has shut down a direction; -EEXIST: attached already; -ENOBUFS: the
 * stack has 65,535 connections; -ENOMEM, -ENOSPC; -ESHUTDOWN; -EOWNERDEAD. */
TUX_API int tux_attach(struct tux_service *s, int fd, void *user,
		       struct tux_connection **cp);

/* The program takes the socket of @c back: both directions return to kernel TCP,
 * for good, which the peer has to follow within @ns nanoseconds; then the
 * descriptor is the program's, and @c is gone without its gone callback.  The
 * descriptor has O_NONBLOCK and FD_CLOEXEC.  What has arrived over Tux has to be
 * read before.  To be called in a callback of the connection, its last one, while
 * no other thread uses the connection.  Where callbacks are not preempted, the
 * network thread waits meanwhile.
 *
 * Returns the descriptor; -EBUSY: bytes that came over Tux are unread; -ETIMEDOUT:
 * the peer did not follow.  After these the connection goes on, over TCP only, and
 * tux_detach() may be called again.  -EPIPE: tux_shut() was called, or the peer's
 * stream has ended on Tux; -EINVAL: in no callback of @c; -EOPNOTSUPP: it has
 * messages; or as tux_write(). */
TUX_API int tux_detach(struct tux_connection *c, uint64_t ns);

/* Begins a connection to the numeric address @host, and stores it in *@cp
 * unless that is NULL; @user is what tux_user() will return.  After 0, open
 * runs when the connection is established, or gone if that fails; until then,
 * calls that send or write return -EAGAIN.  The connection is the calling network
 * thread's.  After an error no callback runs.  -EXDEV: @s is serial, and this is
 * not the first network thread; -EINVAL: @host is not a numeric address;
 * -ENETUNREACH; -EMFILE; -ENOBUFS: the stack has 65,535 connections; -ESHUTDOWN;
 * -EOWNERDEAD; ... */
TUX_API int tux_connect(struct tux_service *s, const char *host, uint16_t port,
			void *user, struct tux_connection **cp);

/* ---- a connection ------------------------------------------------------
 *
 * The handle is valid from the open callback, or from tux_connect(), until gone
 * returns.  To use it longer, or on another thread, hold a reference:
 * tux_get().
 */

/* Reads up to @n bytes of the stream into @p.  Returns how many: fewer than @n
 * if no more were there; 0 at the end of the stream, which comes after all of
 * its bytes; -EAGAIN if none are there now; the connection's error, and gone
 * then follows by itself; -ENOTCONN.
 * tux_peek() does the same but leaves the bytes unread. */
TUX_API ssize_t tux_read(struct tux_connection *c, void *p, size_t n);
TUX_API ssize_t tux_peek(struct tux_connection *c, void *p, size_t n);

/* 1 if the peer has ended its stream: the bytes that can be read now are the
 * last ones.  0 if not, or if the connection is not open or has failed.  It
 * becomes 1 between callbacks, after the messages that have arrived were
 * delivered, and then the stream callback runs; or when tux_read() returns
 * 0. */
TUX_API int tux_ended(const struct tux_connection *c);

/* How many bytes can be read now.  Any thread. */
TUX_API size_t tux_readable(const struct tux_connection *c);

/* Makes the stream callback run again, even if nothing arrives.  Any thread. */
TUX_API void tux_again(struct tux_connection *c);

enum {				/* events of tux_watch(), */
	TUX_IN = 0x01,		/* as POLLIN */
	TUX_OUT = 0x04		/* and POLLOUT */
};

/* From now on the stream and room callbacks of @c are level-triggered, as poll()
 * is.  With TUX_IN in @events, the stream callback runs again and again until a
 * tux_read() returns fewer bytes than it was asked for, or it or tux_peek()
 * returns -EAGAIN.  With TUX_OUT, the room callback runs again and again until a
 * write returns fewer bytes than it was given, or -EAGAIN, and then when there is
 * room.  Without TUX_IN the stream callback does not run, and without TUX_OUT the
 * room callback does not run for the stream; if the connection breaks meanwhile,
 * the gone callback alone tells so.  Each of the two runs at most once in a turn
 * (tux_turn()).  0; -ENOTCONN.  Any thread. */
TUX_API int tux_watch(struct tux_connection *c, unsigned events);

/* Writes as many of the bytes to the stream as there is room for, and returns
 * how many.  -EAGAIN: there is no room; after that, and after fewer bytes than
 * given, the room callback will run.  -EPIPE: after tux_shut(); the
 * connection's error; -ENOTCONN.  Any thread. */
TUX_API ssize_t tux_write(struct tux_connection *c, const void *p, size_t n);
TUX_API ssize_t tux_writev(struct tux_connection *c, const struct iovec *iov,
			   int n);

/* The same, but waits for room, for up to @ns nanoseconds in all, until all bytes
 * are written; TUX_FOREVER: for as long as the connection lasts.  In a routine
 * only that routine waits, elsewhere the calling thread.  Bytes of other calls
 * do not come between those of one that waits: other calls that wait come behind
 * it, and tux_write() returns -EAGAIN.  Returns @n; fewer if time or an error
 * ended the wait in the middle; or, if nothing was written, as tux_write(),
 * except -EAGAIN.  -ETIMEDOUT: no room came in time.  -EDEADLK: there was none,
 * and the caller is the connection's network thread, outside of routines, or a
 * routine of another stack.  -ESHUTDOWN: there was none, the caller is another
 * thread, and tux_run() has returned.  Any thread. */
TUX_API ssize_t tux_write_wait(struct tux_connection *c, const void *p,
			       size_t n, uint64_t ns);
TUX_API ssize_t tux_writev_wait(struct tux_connection *c,
				const struct iovec *iov, int n, uint64_t ns);

/* Sends no more bytes and no more messages: the peer reads the end of the
 * stream after what was written.  The connection still receives.  If this
 * direction has moved to Tux, the end also comes after all messages; before
 * that, it may overtake them.  -ENOTCONN: not open.  Any thread. */
TUX_API int tux_shut(struct tux_connection *c);

/* Ends the connection.  What was written is still sent, messages have up to
 * five seconds to settle, and what arrives is dropped; then gone runs.  From
 * now on calls return -ENOTCONN, and no callback but settled and gone begins.
 * Any thread. */
TUX_API void tux_disconnect(struct tux_connection *c);

/* Ends the connection at once: the peer gets a reset, and what was not
 * delivered is lost.  Then gone runs.  Any thread. */
TUX_API void tux_abort(struct tux_connection *c);

/* The pointer of tux_connect(), tux_attach() or tux_set_user(); NULL at first. */
TUX_API void *tux_user(const struct tux_connection *c);
TUX_API void tux_set_user(struct tux_connection *c, void *user);

/* The service and the stack of the connection. */
TUX_API struct tux_service *tux_service_of(const struct tux_connection *c);
TUX_API struct tux *tux_of(const struct tux_connection *c);

/* The descriptor of the connection's TCP socket, which the stack owns, for calls
 * like getsockname() and setsockopt(); not to be read, written, shut down or
 * closed.  It ends with the connection: -ENOTCONN. */
TUX_API int tux_socket(const struct tux_connection *c);

/* Why the connection is not on Tux, a number for tux_reason_word(); 0: it is, or
 * that is not decided yet.  In the gone callback: how it was at the end. */
TUX_API unsigned tux_reason(const struct tux_connection *c);

/* Stores the peer's address as text in the @n bytes at @host (46 are enough),
 * and its port, in host byte order, in *@port; either pointer may be NULL.
 * -ENOSPC: @n is too small. */
TUX_API int tux_peer(const struct tux_connection *c, char *host, size_t n,
		     uint16_t *port);

/* Takes a reference, and drops one.  A reference keeps the handle valid after
 * gone, and, if the connection broke, its descriptor from being another file's;
 * it does not keep the connection open.  Every reference must be dropped before
 * tux_close() returns; the gone callbacks that tux_close() runs are in time.
 * tux_get() is for callbacks of the connection, the caller of tux_connect(), and
 * holders of a reference; both: any thread. */
TUX_API void tux_get(struct tux_connection *c);
TUX_API void tux_put(struct tux_connection *c);

/* ---- messages; all of these: any thread -------------------------------- */

/* Sends a copy of the @n bytes at @p as one message; @flags is 0 or
 * TUX_ORDERED.  Until it is known whether the peer takes messages, they wait.
 * -EAGAIN: no room now, or the connection is not open yet; the room callback
 * will run.  -EMSGSIZE: longer than tux_send_max().  -EPROTONOSUPPORT: the peer
 * has no Tux or takes no messages, the service has neither a message nor a
 * settled callback, or the connection cannot move to Tux.  -EPIPE: after
 * tux_shut().  -EINVAL: other flags.  The connection's error.  -ENOTCONN. */
TUX_API int tux_send(struct tux_connection *c, const void *p, size_t n,
		     unsigned flags);

/* The same for a vector of @n pieces.  The message's name, which the settled
 * callback gets, is stored in *@ref unless that is NULL. */
TUX_API int tux_sendv(struct tux_connection *c, const struct iovec *iov, int n,
		      unsigned flags, uint64_t *ref);

/* As tux_send() and tux_sendv(), but wait for room, for up to @ns nanoseconds;
 * TUX_FOREVER: for as long as the connection lasts.  In a routine only that
 * routine waits, elsewhere the calling thread.  They return no -EAGAIN, but
 * -ETIMEDOUT: no room came in time.  -EDEADLK: there was none, and the caller is
 * the connection's network thread, outside of routines; or a routine of another
 * stack; or a callback of the same connection or serial service, and the service
 * has a settled callback, which would have to run first.  -ESHUTDOWN: there was
 * none, the caller is another thread, and tux_run() has returned. */
TUX_API int tux_send_wait(struct tux_connection *c, const void *p, size_t n,
			  unsigned flags, uint64_t ns);
TUX_API int tux_sendv_wait(struct tux_connection *c, const struct iovec *iov,
			   int n, unsigned flags, uint64_t *ref, uint64_t ns);

/* Reserves room for a message of @n bytes, for the caller to fill in place at
 * *@pp until tux_commit() sends it or tux_cancel() drops it.  Messages of up to
 * 16 KiB are sent in the order of reservation; longer ones have an order of
 * their own.  A message that is not committed holds up the later ones of its
 * kind.  Errors as of tux_send(). */
TUX_API int tux_reserve(struct tux_connection *c, size_t n, unsigned flags,
			void **pp, uint64_t *ref) TUX_CHECK;

/* Sends a reserved message.  -ENOTCONN. */
TUX_API int tux_commit(struct tux_connection *c, uint64_t ref);

/* Asks that message @ref, reserved or sent, be dropped.  0: the settled
 * callback will say whether that was in time (ECANCELED) or not (0).
 * -EALREADY: it is settled; -ENOTCONN. */
TUX_API int tux_cancel(struct tux_connection *c, uint64_t ref);

/* The longest message that may be sent, in bytes, as far as is known; 0: the
 * connection is not open, or cannot have messages. */
TUX_API size_t tux_send_max(const struct tux_connection *c);

/* Keeps message @m, and a reference to its connection, until tux_release().
 * Only the message callback that got @m may call it.  Copy the struct after the
 * call; any thread may then read the bytes, answer, and release the copy.
 * Room returns to the peer in the order of sending.  While a message of up to
 * 16 KiB is held, the peer can send at most 255 later ones of that kind on the
 * connection; while a longer one is held, at most 31 later longer ones; and
 * fewer if their bytes fill the room. */
TUX_API void tux_hold(struct tux_message *m);

/* Gives up a message that was held; once for each. */
TUX_API void tux_release(const struct tux_message *m);

/* ---- routines ---------------------------------------------------------- */

/* Runs @fn(@arg) on the network thread, in a routine.  Of several network
 * threads, a callback's own runs it; calls of other threads go to all in turn.
 * -ENOMEM, -EOWNERDEAD.  Any thread. */
TUX_API int tux_go(struct tux *t, void (*fn)(void *arg), void *arg);

/* In a routine: tux_yield() lets the network and all other ready routines run
 * first; tux_sleep() suspends the routine for at least @ns.  Meanwhile no other
 * callback of the connection, or of its serial service, begins.
 * Outside of routines they are sched_yield() and nanosleep().  Any thread. */
TUX_API void tux_yield(void);
TUX_API void tux_sleep(uint64_t ns);

/* 1: the caller is in a routine, and can call tux_block() right here, although
 * the code around it knows nothing of routines: it has thread-local storage of
 * its own, and may hold locks.  0: elsewhere; also with TUX_NO_SLICE, where
 * preemption is off, in a handler of a signal on another stack, and in a child.
 * Any thread. */
TUX_API int tux_can_block(void);

/* Calls @fn(@arg), which may block, and returns when @fn has returned.  In a
 * routine, a thread of the library makes the call, on the routine's stack, while
 * the network and other routines go on; @fn is in no routine then, see
 * tux_block(3).  errno is what @fn has left there.  Meanwhile no other callback
 * of the connection, or of its serial service, begins.  Outside of routines the
 * caller itself calls @fn.  Any thread. */
TUX_API void tux_block(void (*fn)(void *arg), void *arg);

/* Calls on files.  Each does what the call of the C library does that has its
 * name (tux_close_file(): close(); tux_read_file() and tux_write_file(): read()
 * and write()), with that call's results: a count, or 0, or a descriptor; -1 and
 * errno.  In a routine, the network and other routines go on meanwhile, as with
 * tux_block(), and @fd and buffers must stay until the call returns; io_uring
 * makes what it makes faster than a thread, see tux_pread(3).  @mode counts
 * where the call creates a file.  Outside of routines they are plain calls.  Any
 * thread. */
TUX_API ssize_t tux_pread(int fd, void *p, size_t len, off_t at);
TUX_API ssize_t tux_pwrite(int fd, const void *p, size_t len, off_t at);
TUX_API ssize_t tux_preadv(int fd, const struct iovec *iov, int n, off_t at);
TUX_API ssize_t tux_pwritev(int fd, const struct iovec *iov, int n, off_t at);
TUX_API int tux_fsync(int fd);
TUX_API int tux_fdatasync(int fd);
TUX_API int tux_openat(int dir, const char *path, int flags, mode_t mode);
TUX_API int tux_close_file(int fd);
TUX_API ssize_t tux_read_file(int fd, void *p, size_t len);
TUX_API ssize_t tux_write_file(int fd, const void *p, size_t len);

/* Between these two calls the routine is not preempted.  They nest.  Outside of
 * routines they do nothing.  Any thread. */
TUX_API void tux_uninterruptible_enter(void);
TUX_API void tux_uninterruptible_leave(void);

/* ---- statistics --------------------------------------------------------
 *
 * Each call fills the first @size bytes of *@st: sizeof the struct, as the
 * caller knows it.  Counts run from the start.  -EINVAL: @size is 0 or not a
 * multiple of 8; -EOWNERDEAD; -EAGAIN, for a connection of a stack that was opened
 * beside another: that one's thread is in the way now.  What another network thread
 * of the stack counts is asked of that thread, and the caller waits for its turn.
 */

struct tux_connection_stats {
	uint64_t tcp_tx, tcp_rx;	/* stream bytes over plain TCP, */
	uint64_t frame_tx, frame_rx;	/* in frames of switched TCP, */
	uint64_t tux_tx, tux_rx;	/* and over Tux; sent again, they count
					 * again */
	uint64_t message_tx, message_rx;	/* message bytes; likewise */
	uint64_t messages_tx, messages_rx;	/* messages that arrived at the
						 * peer, and here */
	uint64_t failed;		/* messages that the peer did not get */
	uint64_t packets_tx, packets_rx;
	uint64_t lost, resent, timeouts;	/* packets declared lost; those
						 * with stream bytes, sent
						 * again; times that the
						 * retransmission timer fired */
	uint64_t backs;			/* times that what this end sends went
					 * back to TCP */
	uint32_t reason;		/* why it is not on Tux, a number for
					 * tux_reason_word(); 0: it is, or that
					 * is not decided yet */
	uint8_t tx_on_tux, rx_on_tux;	/* is this direction on Tux now? */
	uint8_t messages;		/* may be sent, as far as is known */
	uint8_t pad;
	/* What decides which path the stream takes: */
	uint32_t turns;			/* requests and answers so far: bursts
					 * that each direction has ended */
	uint32_t burst_tx, burst_rx;	/* their mean length, in bytes */
	uint32_t burst_max;		/* up to which Tux is faster; 0: not
					 * known yet */
	uint64_t tux_rate, tcp_rate;	/* bytes per second that this end sent
					 * over each path, when its direction
					 * last went back because bytes waited;
					 * 0: not measured */
};

struct tux_loop_stats {
	uint64_t turns;			/* times it looked at the network */
	uint64_t datagrams_rx, datagrams_tx;
	uint64_t packets_rx, packets_tx;
	uint64_t callbacks;		/* run; a group of messages is one */
	uint64_t messages;		/* delivered */
	uint64_t routines, routines_now, routines_most;	/* made so far; in a
					 * callback now, and at most so far */
	uint64_t switches;		/* into routines, which were left: */
	uint64_t preemptions;		/* at the end of their slice, */
	uint64_t yields;		/* by yielding, */
	uint64_t blocked;		/* by sleeping, waiting or tux_block() */
	uint64_t sleeps;		/* times the network thread slept */
	uint64_t slice_ns;		/* 0: callbacks are not preempted */
	uint64_t network_ns;		/* in turns that found something, */
	uint64_t slices_ns;		/* and in slices of callbacks */
	uint64_t block_calls;		/* tux_block() in routines, also by calls
					 * on files */
	uint64_t file_calls;		/* calls on files, made by io_uring */
	uint64_t datagrams_passed;	/* received for other loops, and passed on */
};

struct tux_stats {
	uint64_t loops, services, listeners;
	uint64_t connections_now, connections;	/* not gone yet; accepted,
					 * attached, or begun by
					 * tux_connect() */
	uint64_t on_tux_now, on_tux;	/* both directions on Tux: connections
					 * now; times that one got there */
	uint64_t refused;		/* accepts that failed: EMFILE, ... */
	uint64_t backend;		/* enum tux_backend, as asked for */
	uint64_t threads;		/* network threads that have a loop now */
	uint64_t moved;			/* how often a loop has gone to another
					 * one */
	uint64_t connections_moved;	/* accepted connections that went to another
					 * loop, which has the queue of their packets */
};

/* Of connection @c.  The gone callback gets the final counts. */
TUX_API int tux_connection_stats(const struct tux_connection *c,
				 struct tux_connection_stats *st, size_t size);

/* Of loop @i: as many as network threads may run, the first number 0; -EINVAL: there
 * are not so many.  Number 0 also counts the packets of those that do not send. */
TUX_API int tux_loop_stats(const struct tux *t, unsigned i,
			   struct tux_loop_stats *st, size_t size);

/* Of the stack. */
TUX_API int tux_stats(const struct tux *t, struct tux_stats *st, size_t size);

/* The version of the library that runs, such as "0.1.0".  Any thread. */
TUX_API const char *tux_version(void);

/* What @reason means, in one word and in a sentence; never NULL.  Any
 * thread. */
TUX_API const char *tux_reason_word(unsigned reason);
TUX_API const char *tux_reason_sentence(unsigned reason);

#ifdef __cplusplus
}
#endif

#endif
