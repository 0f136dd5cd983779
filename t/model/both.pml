/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * both - two directions, and what ties them: RAW, fork, close(), kill -9
 *
 * Small bounds: each direction by itself is in prepare, path and marker.
 */
#define WAYS 2
#ifndef BYTES
#define BYTES 1
#endif
#define GENS 1
#ifndef AHEAD
#define AHEAD 0
#endif
#define ROOM 2
#define RINGCAP 1
#define SWITCHES 0
#define RAWS(w) false

bool calling[2];		/* that end's application wants plain TCP */
bool asked[2], told[2];		/* ... has wanted, and its loop says so */
bool came[2];			/* a RAW frame has reached it */
bool foreign[2];		/* ... has it: another program reads on */
bool closed, left_off;		/* end 0 has said close(); its socket is closed */
bool child;			/* of end 0, works on the connection */

#define LOOP(e) (!gone[e] && !foreign[e] && !((e) == 0 && left_off))
#define THERE(e) (!gone[e] && !((e) == 0 && left_off))
#define BUSY(e) calling[e]
#ifdef M_NOADVANCE		/* the call only waits for the loop */
#define ADVANCES(e) (!calling[e])
#else
#define ADVANCES(e) true
#endif
#define RAW_TOO(e) came[e] = true
#if defined(CLOSES)
#define LIMIT(w) (w == 0 -> BYTES : 0)
#elif defined(SILENCE)
#define LIMIT(w) BYTES
#else
#define LIMIT(w) (w == 1 -> BYTES : 0)
#endif
#define CHILD(e) ((e) == 0 && child)

#include "way.pml"

inline want_raw(e)
{
	if
	:: !way[e].rawwanted ->
		told[e] = true;
		raw_wanted(e);
		way[1 - e].rpinned = way[1 - e].rst != RING
	:: else
	fi
}

#include "ends.pml"

/* ---- RAW: exec(), fdopen(), another process ---- */

#define TX way[e]
#define RX way[1 - e]
#define TX_PLAIN(e) (TX.st == PLAIN && TX.pinned && !TX.doubt && !TX.hold)
#ifdef M_RAWARMED		/* the peer may yet commit */
#define QUIET(e) (RX.rst != RING)
#else
#define QUIET(e) (RX.rst == PLAIN)
#endif
#ifdef M_RAWEOF			/* its FIN frame is still to come */
#define OVER(e) RX.reof
#else
#define OVER(e) (RX.reof && RX.eof && !RX.n)
#endif
#define RX_PLAIN(e) ((QUIET(e) && RX.rpinned && RX.roff >= RX.rhead) || \
	OVER(e))

proctype caller(byte e)
{
end:	do
	:: atomic { e == 0 && !asked[e] && THERE(e) && !TX.broken ->
		printf("app %d: wants plain TCP\n", e);
		asked[e] = true; calling[e] = true;
		want_raw(e) }
	:: atomic { (came[e] || (told[1 - e] && !dead)) && LOOP(e) &&
		    !TX.rawwanted ->
		printf("loop %d: the peer wants RAW\n", e);
		want_raw(e) }
	:: atomic { calling[e] && THERE(e) && TX_PLAIN(e) && RX_PLAIN(e) ->
		printf("app %d: has plain TCP\n", e);
		foreign[e] = true; calling[e] = false }
	/* -EBUSY: nobody answers, or bytes wait to be read. */
	:: atomic { calling[e] && (dead || !LOOP(1 - e) || TX.broken ||
		    RX.roff < RX.rhead || RX.eof || RX.rerr) ->
		printf("app %d: is refused\n", e);
		calling[e] = false }
	od
}

/* ---- close() of end 0, while end 1 has nothing to say ---- */

/* Its loop reads on in place of the application: app_rx(1) is the loop then. */

#ifdef M_CLOSENOW		/* TCP alone, as far as we know */
#define ALONE (way[0].path == NONE && way[1].rst != RING)
#else
#define ALONE (way[0].path == NONE && way[0].st != RING && \
	way[1].rst == PLAIN)
#endif

proctype closer(byte w)
{
end:	do
	:: atomic { way[0].shut && !closed ->
		printf("app 0: closes\n");
		closed = true }
#ifdef M_SINKPROVE		/* what comes is forgotten, and not counted */
	:: atomic { closed && !left_off && W.rst == ARMED && W.n > 0 ->
		pop(w) }
#endif
#ifdef M_RESETFIN		/* a FIN counts as bytes that nobody reads */
	:: atomic { closed && way[0].done && W.path == TUX && W.ended &&
		    !dead && !way[0].reof && !way[0].rerr ->
		printf("loop 1: RESET is here\n");
		way[0].rerr = 1 }
#endif
	:: atomic { closed && !left_off && way[0].eof &&
		    (ALONE || (W.n == 0 && W.eof)) ->
		printf("end 0: closes its socket\n");
		left_off = true;
		if
		:: W.n > 0 -> crash_rx(w); cut_off(0)
		:: else
		fi }
	od
}

/* ---- fork() of end 0 ---- */

#ifdef M_FORKTX			/* ... which goes on over Tux */
#define TX_IDLE true
#else
#define TX_IDLE (way[0].st == PLAIN && !way[0].doubt && !way[0].hold)
#endif
#ifdef M_FORKRX
#define RX_IDLE true
#else
#define RX_IDLE (way[1].rst == PLAIN && way[1].roff >= way[1].rhead)
#endif

/* Plain on both sides, the child stays plain; else it is refused. */
proctype forker()
{
end:	do
	:: atomic { !child && !gone[0] && TX_IDLE && RX_IDLE ->
		printf("end 0: a child works on\n");
		child = true;
		way[0].pinned = 1; way[1].rpinned = 1 }
	od
}

init {
	atomic {
		run app_tx(0); run loop_tx(0); run loop_ring(0);
		run app_rx(0); run loop_rx(0); run referee(0);
		run app_tx(1); run loop_tx(1); run loop_ring(1);
		run app_rx(1); run loop_rx(1); run referee(1);
		run world();
#ifdef CALLS
		run caller(0); run caller(1);
#endif
#ifdef CLOSES
		run closer(1);
#endif
#ifdef CHILDREN
		run forker();
#endif
		skip
	}
}
