/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * app - one application's side of a connection
 *
 * app.c: reading, writing and waiting; act.c: what stories ask for; told.c: what
 * the core's connection tells.
 */
#ifndef SIM_APP_H
#define SIM_APP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/list.h"
#include "base/time.h"
#include "conn/core.h"
#include "conn/trace.h"
#include "seen.h"
#include "tcp.h"

struct sim_conn;
struct sim_end;
struct sim_host;

enum { SIM_PATCHES = 4, SIM_KEEP = 8 };

enum sim_role {
	SIM_BULK,		/* writes up to its goal */
	SIM_ECHO,		/* writes what it reads */
	SIM_CLIENT,		/* `rounds` requests, each after a response */
	SIM_SERVER,		/* a response to each request */
};

struct sim_plan {
	enum sim_role role;
	uint32_t req, resp;	/* bytes of a request, a response */
	uint32_t rounds;
	uint32_t wmax, rmax;	/* the longest write, read */
	bool vary;		/* any length up to it, in several pieces */
	tux_time claim;		/* so long after the connection was made */
	tux_time think;		/* between two rounds of reading and writing */
	bool finish;		/* shut down behind the last byte */
	bool linger;		/* stay open after both ends have shut down */
	bool no_fd;		/* the loop gets no handle of its own */
	bool plain;		/* a program without Tux */
	bool deaf;		/* takes no messages */
	uint16_t peer_port;	/* what the peer's handshake announced; 0 */
	bool choose;		/* the path that is faster; else Tux */
	unsigned keep;		/* messages that it reads later, at most */
	bool mail_first;	/* it reads no stream before a message */
	uint32_t whole;		/* what it reads is whole records of so many
				 * bytes; 0: whatever comes */
	uint32_t hold;		/* of a million calls: dawdle in the latch */
	uint32_t mimic;		/* ... write what looks like a marker */
	unsigned starve;	/* opening it, this allocation fails; 0: none */
	void (*preset)(struct sim_end *e);	/* the core's connection is
				 * there, and has sent nothing; NULL: as it is */
};

struct sim_msg {		/* a message of an end */
	uint32_t len;
	unsigned flags;		/* TUX_MSG_* */
	uint64_t ref;
	bool sent, settled;	/* handed in; told what became of it */
	bool cancel;		/* somebody wanted it back */
	int err;
	unsigned got;		/* times that the peer was given it */
};

struct sim_patch {		/* other bytes than the usual at `off` */
	uint64_t off;
	unsigned len;
	uint8_t b[64];
};

struct sim_told {		/* in traces, by the core's connection */
	uint64_t n[TUX_TRACE_N];
	/* bytes */
	uint64_t stream_tx, stream_rx;
	uint64_t frame_tx, frame_rx, frame_last;
	uint64_t msg_rx;
};

struct sim_end {
	struct sim_conn *conn;
	struct sim_host *host;
	struct tux_list node;	/* in host->ends */
	struct sim_end *peer;
	unsigned side;		/* 0: the active opener */
	struct sim_sock sock;
	struct tux_duplex *dx;
	struct tux_msgbox *box;	/* NULL: no messages */
	struct tux_conn *c;	/* NULL: plain, not claimed yet, or gone */
	struct sim_plan plan;
	struct sim_patch patch[SIM_PATCHES];
	/* the application's */
	uint64_t goal;		/* bytes to write */
	uint64_t sent, got;	/* bytes written, bytes read and checked */
	bool begun;		/* has claimed the connection */
	bool paused;		/* reads nothing */
	bool app_queued;	/* will run */
	bool shut, eof, closed, aborted;
	int rerr, werr;		/* what ended reading, writing */
	struct tux_latch *held;	/* a thread of it sleeps in there */
	bool half;		/* has written behind the peer's end */
	bool rawed;		/* ... or shared */
	struct sim_msg *msg;	/* its messages: all, and those handed in */
	unsigned msg_n, msg_cap, msg_next;
	unsigned msg_told;	/* up to here, what became of each is known */
	unsigned msg_got;	/* of the peer's */
	int msg_err;		/* what sending said last, but for -EAGAIN */
	struct tux_msg kept[SIM_KEEP];
	unsigned kept_n;
	tux_time kept_at;	/* the last one came */
	/* the loop's */
	bool waits;		/* until the one before it, on the same
				 * addresses, has ended: a bell tries again */
	bool owned;		/* the loop has a handle of its own */
	bool owing;		/* ... or is about to have one */
	bool tcp_work;		/* the core may want TCP */
	bool tcp_full;		/* TCP has no room until it has news */
	bool tcp_ended;		/* the core knows of its end */
	bool tcp_broken;	/* ... with an error */
	bool gone, gone_reset;
	bool was_tx, was_rx;	/* ever switched */
	enum tux_reason reason;	/* what was last decided */
	bool on_tux;
	struct sim_told told;
	struct tux_conn_stats stats;	/* the last ones, when it is gone */
	struct sim_states states;	/* as they were last seen */
};

void sim_write(struct sim_end *e, uint64_t n);	/* @n bytes more */
void sim_finish(struct sim_end *e);	/* shut down when all is written */
void sim_pause(struct sim_end *e, bool on);	/* stop or go on reading */
void sim_close(struct sim_end *e);
void sim_abort(struct sim_end *e);	/* close, with SO_LINGER {1, 0} */
void sim_raw(struct sim_end *e);	/* ask for plain TCP for good */
void sim_share(struct sim_end *e);	/* another process uses it, as plain TCP */
void sim_alone(struct sim_end *e);	/* ... and does not any more */
void sim_leave(struct sim_end *e);	/* ... which has come: the loop has nothing
					 * to do with the socket any more */
bool sim_pin(struct sim_end *e);	/* as fork does; false: too late */

/* Sends a message of @len bytes, as soon as it can; its number. */
unsigned sim_send(struct sim_end *e, uint32_t len, unsigned flags);
void sim_cancel(struct sim_end *e, unsigned n);	/* ... and takes it back */

/* The bytes of @e at @off are these instead. */
void sim_patch(struct sim_end *e, uint64_t off, const void *p, unsigned len);

/* ---- for the simulation itself ---- */

/* The application looks again, soon. */
void sim_app_wake(struct sim_end *e);

/* It sends and reads messages.  Did it do anything? */
bool sim_app_messages(struct sim_end *e);

/* Its connection tells @t.  When it is gone: fails the simulation if it has
 * counted anything else. */
void sim_told(struct sim_end *e, const struct tux_trace *t);
void sim_told_all(struct sim_end *e);

/* It closes; with @abort as SO_LINGER {1, 0}. */
void sim_app_close(struct sim_end *e, bool abort);

#endif
