/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * way - one direction of a connection, as lib/conn moves it between TCP and Tux
 *
 * Way w leads from end w to end 1-w.  Names are those of lib/conn: st, at,
 * doubt (duplex.h); path, off, busy (conn.h).  Here is the state, and what each
 * step does to it; ends.pml says when a step may be taken.  README says what is
 * left out.  "#ifdef M_..." is a mutant: a rule broken on purpose.
 */

#define TOP 5			/* slots of a queue; ROOM is at most that */

#define PLAIN 0
#define ANNOUNCED 1
#define ARMED 1			/* the same, of a receiver */
#define ACKED 2
#define RING 3

#define NONE 0
#define TUX 1
#define TCP 2

/*
 * A symbol on TCP: what it looks like, and a number that only the checks see:
 * for a byte of the application its place, from 1; for a marker 0; for a frame
 * its offset.  A marker is two symbols, the first of which all generations
 * share.  An application's byte may look like either.
 */
#define SYM(kind, num) (((kind) << 4) + (num))
#define KIND(s) ((s) >> 4)
#define NUM(s) ((s) & 15)
#define ORDINARY 1
#define FIRST 2
#define SECOND(g) (2 + (g))	/* of generation g, 7 at most */
#define DATA 10
#define FIN 11
#define SWITCH 12
#define RAWF 13
#define PLAINF 14
#define IS_BYTE(s) (KIND(s) < DATA && NUM(s) > 0)

#define NOWHERE 15		/* N of a disarming generation */
#define BIT(i) (1 << (i))
#define BELOW(i) (BIT(i) - 1)

typedef Way {
	/* the sender, shared by application and loop */
	byte st, gen, mgen, at, wr;	/* wr: bytes that write() has taken */
	bit shut, hold, left, pinned, doubt, disarming;
	/* its loop */
	byte path, off, got, busy, again, reals;
	bit ended, fin, finsent, sw, raw, plain, done, rawwanted;
	/* wants to leave Tux, and writes wait; so often it has */
	bit leaving;
	byte leaves;
	/* times that it has become plain again: the sender's count, the
	 * receiver's, and what the PREPARE of a generation says */
	byte turn, rturn, pturn[2 * GENS + 1];
	byte cgen, cat;			/* only for checks: what was committed */
	/* TCP: eof and err stand behind what is queued */
	byte q[TOP], n;
	bit eof, err;
	/* UDP: N + 1 by generation; generations; offsets; the end */
	byte prep[2 * GENS + 1], prepared, sent, lost;
#ifdef M_CLAIM
	byte claim;
#endif
	bit tuxfin;
	/* the receiver */
	byte rst, rgen, rat, roff, rhead, rgot, rleft;
	bit rfin, reof, rerr, rpinned;
	/* the sending application */
	byte want;		/* a byte that looks like this, next */
	bit silent, broken
#ifdef BREAKS
	;
	/* the sender has given it up, and closed TCP; the receiver knows, and
	 * waited in vain for the end of TCP */
	bit reset, closed, told, late
#endif
}

Way way[WAYS];
bool gone[2];			/* that end's process was killed */
bool dead;			/* UDP carries nothing any more */

#define W way[w]

/* ---- TCP ---- */

/* A reset: some of what was on its way is lost, and the end of file. */
inline cut_off(v)
{
	way[v].eof = 0; way[v].err = 1;
	do
	:: way[v].n > 0 -> way[v].n--; way[v].q[way[v].n] = 0
	:: break
	od
}

#ifdef BREAKS			/* has the sender given it up? */
#define BROKE(w) W.reset
#define LATE(w) W.late
#else
#define BROKE(w) false
#define LATE(w) false
#endif

#ifndef THERE			/* does end e have its socket? */
#define THERE(e) (!gone[e])
#endif
#if WAYS > 1
#define AND_RESET(e) cut_off(e)
#else
#define AND_RESET(e) skip
#endif

inline push(w, s)
{
	if
	:: !THERE(1 - w) ->
		W.broken = 1;			/* the kernel says so */
		AND_RESET(1 - w)
	:: else ->
		assert(!W.eof);			/* nothing behind SHUT_WR */
		W.q[W.n] = s; W.n++
	fi
}

inline pop(w)
{
	W.q[0] = W.q[1]; W.q[1] = W.q[2]; W.q[2] = W.q[3]; W.q[3] = W.q[4];
	W.q[4] = 0; W.n--
}

/* ---- the sending application ---- */

/* A byte that looks like @k to TCP.  In doubt, it is compared. */
inline write_tcp(w, k)
{
	printf("app %d: byte %d, looks like %d, to TCP\n", w, W.wr + 1, k);
#ifndef M_NOVOID		/* a write past N leaves it open */
	if
	:: W.wr == W.at && (W.st == ANNOUNCED || W.st == ACKED) -> W.st = PLAIN
	:: else
	fi;
#endif
	if
	:: W.doubt && W.wr == W.at && k != FIRST -> W.doubt = 0
	:: W.doubt && W.wr == W.at + 1 && k != SECOND(W.mgen) -> W.doubt = 0
	:: else
	fi;
	push(w, SYM(k, W.wr + 1));
	W.wr++
}

/* The marker goes to TCP whole; it may arrive in two pieces. */
inline commit(w)
{
	printf("end %d: marker of %d to TCP at %d\n", w, W.mgen, W.wr);
	W.st = RING; W.doubt = 0; W.disarming = 0; W.prepared = 0;
	W.cgen = W.mgen; W.cat = W.at;
	W.got = W.wr; W.off = W.wr; W.left = 1;
#ifndef M_LATEMARKER		/* the loop will write it, some time */
	push(w, SYM(FIRST, 0))
#endif
}

/*
 * A write of two bytes goes across N in one piece: the byte below N, the
 * marker, a frame with the other byte, and SWITCH.  TCP takes the first @k
 * symbols; the loop writes the rest.  Tux sends the other byte as well.
 */
inline across(w, k)
{
	printf("app %d: bytes %d and %d across N\n", w, W.wr + 1, W.wr + 2);
	push(w, SYM(ORDINARY, W.wr + 1));
	push(w, SYM(FIRST, 0));
	push(w, SYM(SECOND(W.mgen), 0));
	W.wr++;
	W.st = RING; W.doubt = 0; W.disarming = 0; W.prepared = 0;
	W.cgen = W.mgen; W.cat = W.at;
	if
	:: k > 3 -> push(w, SYM(DATA, W.wr))
	:: else -> W.busy = DATA
	fi;
	W.got = W.wr; W.off = W.wr;
	W.wr++;
	if
	:: k > 4 -> push(w, SYM(SWITCH, W.wr))
	:: else -> W.sw = 1
	fi
}

inline rest_of_marker(w)
{
#ifdef M_LATEMARKER
	push(w, SYM(FIRST, 0));
#endif
	push(w, SYM(SECOND(W.mgen), 0));
	W.left = 0
}

inline shut_app(w)
{
	printf("app %d: no more\n", w);
	W.shut = 1;
	if
	:: W.st == RING	->		/* the loop tells the peer */
#ifndef M_LEAVESHUT		/* leaves Tux, although the end is due */
		W.leaving = 0; W.hold = 0
#endif
	:: W.st != RING && W.hold -> W.pinned = 1;
#ifdef M_SHUTHOLD		/* shutdown() before the frame is out */
		W.eof = 1
#endif
	:: W.st != RING && !W.hold -> W.eof = 1; W.pinned = 1
	fi
}

/* ---- the sending loop: announcing ---- */

inline announce(w, ahead)
{
	W.gen++;
#ifdef M_NODISARM		/* the next one as if nothing was in doubt */
	W.disarming = 0;
#else
	W.disarming = W.doubt;
#endif
	if
	:: W.disarming -> W.prep[W.gen] = NOWHERE + 1
	:: else ->
		W.reals++; W.mgen = W.gen; W.at = W.wr + ahead;
		W.prep[W.gen] = W.at + 1; W.doubt = 1; W.st = ANNOUNCED
	fi;
	W.pturn[W.gen] = W.turn;
	printf("loop %d: PREPARE %d at %d\n", w, W.gen, W.prep[W.gen] - 1)
}

inline on_prepared(w, g)
{
	printf("loop %d: PREPARED %d is here\n", w, g);
	if
	:: W.disarming -> W.doubt = 0; W.disarming = 0
	:: else -> W.st = ACKED
	fi
}

/* ---- the sending loop: Tux, frames, back ---- */

/* On Tux, the bytes from here on are sent: those of a frame that has begun, of
 * a write across N, when TCP has it. */
#ifdef M_RESTNOW		/* ... at once */
#define TUX_FROM(w) W.off
#else
#define TUX_FROM(w) (W.off + (W.busy == DATA))
#endif

/* What Tux has sent, or may have, can arrive from now on. */
inline back(w)
{
	W.sent = (W.sent | BELOW(W.wr) & ~BELOW(TUX_FROM(w))) & ~W.rgot;
	W.sent = W.sent & ~BELOW(W.rhead);
	W.tuxfin = W.ended && !W.rfin;
	W.path = TCP;
	W.sw = 0;
#ifdef M_BACKHIGH		/* from where Tux has sent to */
	W.off = W.wr;
#else
	W.off = (W.got < W.wr -> W.got : W.wr);
#endif
	printf("loop %d: back to TCP from %d\n", w, W.off);
	if
	:: W.finsent && W.off == W.wr -> W.got = W.wr + 1
	:: else
	fi
}

/* The next frame, in the order of conn_tcp.c. */
#define FRAMES(w) (W.st == RING && W.path == TCP && W.off < W.wr)

inline begin(w)
{
	W.busy = (FRAMES(w) -> DATA :
		  (W.fin -> FIN : (W.raw -> RAWF :
		  (W.plain -> PLAINF : SWITCH))))
}

inline raw_wanted(w)
{
	printf("loop %d: wants RAW\n", w);
	W.rawwanted = 1;
#ifndef M_SWAFTERRAW		/* a SWITCH that waits is still written */
	W.sw = 0;
#endif
	W.leaving = 0;
	if
	:: W.plain -> W.plain = 0; W.raw = 1; W.pinned = 1
	:: !W.plain && W.st == RING -> W.hold = 0
	:: else
	fi;
	if
	:: W.path == TUX -> back(w)
	:: W.path == NONE && W.st != RING ->
		W.pinned = 1;
		W.st = PLAIN
	:: else
	fi
}

/* Plain again: what comes next, raw or plain, is written behind all frames. */
inline plain_next(w)
{
	W.st = PLAIN; W.hold = 1; W.leaving = 0;
	W.raw = W.rawwanted; W.plain = !W.rawwanted; W.pinned = W.rawwanted;
	if
	:: W.path == TUX -> W.off = W.wr; W.path = TCP
	:: else
	fi
}

inline frame_done(w)
{
	printf("loop %d: frame %d at %d to TCP\n", w, W.busy, W.off);
	W.q[W.n] = SYM(W.busy, (W.busy == FIN -> W.wr : W.off));
	push(w, W.q[W.n]);
	if
	:: W.busy == DATA && W.path != TCP	/* of a write across N */
	:: W.busy == DATA && W.path == TCP ->
		W.off++;
#ifndef M_NORELEASE		/* only the peer's word frees the ring */
		W.got = W.off + (W.finsent && W.off == W.wr)
#endif
	:: W.busy == FIN ->
		W.fin = 0; W.finsent = 1;
		if
#ifdef M_FINFLIP		/* as if all was in frames before it */
		:: W.path == TCP -> W.got = W.wr + 1
#else
		:: W.path == TCP && W.off == W.wr -> W.got = W.wr + 1
#endif
		:: else
		fi
	:: W.busy == RAWF || W.busy == PLAINF ->
		W.raw = 0; W.plain = 0; W.hold = 0;
		W.path = (W.busy == PLAINF -> NONE : TCP);
		W.got = 0; W.off = 0; W.turn = W.turn + (W.busy == PLAINF);
		W.pinned = W.pinned | W.rawwanted;
		W.eof = W.eof | W.shut		/* shut while held */
	:: W.busy == SWITCH ->
		W.sw = 0;
#ifdef M_SWSTAYS		/* RAW is wanted meanwhile, and forgotten */
		W.path = TUX
#else
		W.path = (W.rawwanted -> TCP : TUX)
#endif
	fi;
	W.busy = 0
}

/* ---- the receiver ---- */

#define SAID_ALL(w) (W.rfin && W.rhead == W.wr)

inline arm(w, g)
{
	printf("loop %d: PREPARE %d at %d is here\n", 1 - w, g, W.prep[g] - 1);
	if
	:: W.rst == ARMED -> W.rhead = W.roff	/* the ring is empty */
	:: else
	fi;
	W.rst = PLAIN; W.rgen = g; W.rat = W.prep[g] - 1;
	if
	:: W.rat == NOWHERE -> W.prepared = W.prepared | BIT(g)
	:: W.rat != NOWHERE && W.rat >= W.roff && !W.rpinned ->
		W.prepared = W.prepared | BIT(g); W.rst = ARMED;
		W.rhead = W.rat; W.rgot = 0;
#ifdef M_CLAIM			/* who is armed says that it has all below N */
		W.claim = (W.claim > W.rat -> W.claim : W.rat)
#endif
	:: else
	fi
}

inline forget_prep(w, g)
{
	if
	:: g <= W.rgen -> W.prep[g] = 0
	:: else
	fi
}

inline switch_rx(w, rest)
{
	printf("end %d: reads from the ring, from %d\n", 1 - w, W.roff);
	/* the sender has committed */
	assert(W.cgen == W.rgen && W.cat == W.rat && W.roff == W.rat);
	W.rst = RING; W.rleft = rest;
	/* What matters no more, so that states are alike. */
	W.prepared = 0; W.lost = 0;
	forget_prep(w, 1); forget_prep(w, 2);
#if GENS > 1
	forget_prep(w, 3); forget_prep(w, 4)
#endif
}

/* A byte of the application, read from TCP. */
inline read_tcp(w)
{
	printf("app %d: byte %d from TCP\n", 1 - w, W.roff + 1);
	assert(IS_BYTE(W.q[0]));		/* no marker, no frame */
	assert(NUM(W.q[0]) == W.roff + 1);	/* in order, once */
	pop(w);
	W.roff++
}

/* The marker is next on TCP, and a frame may follow with the rest of a write.
 * With @rest, the reader has room for that, too, and takes it out of the frame;
 * the loop finds it there, and puts it into the ring. */
inline read_marker(w, rest)
{
	assert(!NUM(W.q[0]) && !NUM(W.q[1]));	/* no one's bytes */
	pop(w); pop(w);
	switch_rx(w, 0);
	if
	:: rest ->
		printf("app %d: byte %d from the frame\n", 1 - w, W.roff + 1);
		assert(NUM(W.q[0]) == W.roff);
		W.roff++
	:: else
	fi
}

/* The byte at @i is here, over Tux or in a frame. */
inline take(w, i)
{
	if
#ifdef M_NODEDUP		/* a frame's bytes are new */
	:: true -> assert(i >= W.rhead); W.rgot = W.rgot | BIT(i)
#else
	:: i >= W.rhead -> W.rgot = W.rgot | BIT(i)
	:: else
#endif
	fi;
	do
	:: W.rgot & BIT(W.rhead) -> W.rgot = W.rgot & ~BIT(W.rhead); W.rhead++
	:: else -> break
	od;
	W.sent = W.sent & ~(W.rgot | BELOW(W.rhead))
}

/* The marker, or what stands in its place, has been judged to be data. */
inline void_rx(w)
{
	printf("app %d: no marker at %d\n", 1 - w, W.roff);
	W.rst = PLAIN
}

inline end_rx(w)
{
	printf("app %d: end of file after %d\n", 1 - w, W.roff);
	assert(W.shut || gone[w] || BROKE(w));
	assert(W.roff == W.wr);			/* not a byte is missing */
	W.reof = 1
}

inline err_rx(w)
{
	printf("app %d: connection reset after %d\n", 1 - w, W.roff);
	assert(gone[w] || W.err || BROKE(w));	/* for a reason */
	/* What counts as arrived is not lost when the sender gives up, but by a
	 * reset of TCP's own while Tux had the rest. */
	assert(!BROKE(w) || W.err && (W.path == TUX || W.left) || LATE(w) ||
	       W.roff >= (W.got < W.wr -> W.got : W.wr));
	W.rerr = 1
}

#ifdef BREAKS
/* ---- giving up ---- */

/* Some rule was broken, maybe on the other way: RESET flies from now on. */
inline give_up(w)
{
	printf("loop %d: gives up, at %d\n", w, W.wr);
	W.reset = 1; W.broken = 1
}

/* Its application closes.  TCP's own reset would destroy what TCP has; half of
 * a marker must not be taken for data. */
inline close_tx(w)
{
	printf("end %d: closes\n", w);
	W.closed = 1;
	if
#ifdef M_CLOSERESET		/* always by a reset of TCP's own */
	:: true -> cut_off(w)
#else
#ifdef M_CLOSEHALF		/* whatever of a marker is out */
	:: W.path == TUX && !W.left -> cut_off(w)
	:: W.left -> W.eof = 1
#else
	:: W.path == TUX || W.left -> cut_off(w)
#endif
	:: !W.left -> W.eof = 1
#endif
	fi
}
#endif
