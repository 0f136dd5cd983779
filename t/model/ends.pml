/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ends - who takes which step of way.pml, and when
 *
 * Whatever application or loop does under a latch is one atomic step.  UDP is
 * the set of all that was sent: a packet may come late, twice, in any order or
 * never.  `dead` keeps all of it back for good.
 */

/* ---- the sending application ---- */

#ifdef M_NOVOID			/* a write past N is no matter */
#define AT_N_TX(w) (W.wr >= W.at)
#else
#define AT_N_TX(w) (W.wr == W.at)
#endif
#ifdef M_SHUTCOMMIT		/* even behind shutdown() */
#define MAY_COMMIT(w) true
#else
#define MAY_COMMIT(w) (!W.shut && !W.pinned)
#endif
#define AT_COMMIT(w) (W.st == ACKED && AT_N_TX(w) && MAY_COMMIT(w))
#define CAN_COMMIT(w) (AT_COMMIT(w) && W.n + 2 <= ROOM)
#define LOW(w) (W.got < W.wr -> W.got : W.wr)
#ifdef M_NOHOLD			/* writes go on while the frame waits */
#define HELD_BACK(w) false
#else
#define HELD_BACK(w) W.hold
#endif
#define CAN_TCP(w) (W.n < ROOM && ((W.st == PLAIN && !HELD_BACK(w)) || \
	W.st == ANNOUNCED || \
	(W.st == ACKED && (W.wr < W.at || W.pinned)) || CHILD(w)))
#ifdef M_LATEMARKER		/* bytes into the ring before the marker is out */
#define MAY_RING(w) true
#define WHOLE(w) (RUNS(w) && W.n + 2 <= ROOM)
#else
#define MAY_RING(w) (!W.left)
#ifdef M_TORN			/* killed when TCP has half of the marker */
#define WHOLE(w) RUNS(w)
#elif defined(BREAKS)		/* who gives up leaves it as it is */
#define WHOLE(w) RUNS(w)
#else
#define WHOLE(w) true
#endif
#endif
#define CAN_RING(w) (W.st == RING && MAY_RING(w) && !W.hold && \
	W.wr - LOW(w) < RINGCAP)
#define CAN_WRITE(w) (CAN_TCP(w) || CAN_RING(w))
#define CAN_ACROSS(w) (W.st == ACKED && W.wr + 1 == W.at && MAY_COMMIT(w) && \
	W.n == 0 && W.wr + 2 <= LIMIT(w))
#ifndef RAW_TOO			/* what end e does when RAW comes */
#define RAW_TOO(e) skip
#endif
#ifndef CHILD			/* does a child of end e read and write? */
#define CHILD(e) false
#endif
#ifndef LOOP			/* does end e have a loop? */
#define LOOP(e) (!gone[e])
#define BUSY(e) false		/* is its application inside of a call? */
#define ADVANCES(e) true	/* ... and looks at N, if inside */
#define LIMIT(w) BYTES		/* what it has to say */
#endif
#define RUNS(w) (LOOP(w) && !W.broken)
#define WILLING(w) (!gone[w] && !W.broken && !W.shut && !W.silent && !BUSY(w))

/* Would a byte like @k complete the marker that is in doubt? */
#ifdef M_NOCUT			/* nobody looks */
#define COMPLETES(w, k) false
#else
#define COMPLETES(w, k) (W.doubt && W.wr == W.at + 1 && (k) == SECOND(W.mgen))
#endif
#ifdef M_HOLD			/* a prefix waits until the outcome is known */
#define HELD(w, k) (W.st == ANNOUNCED && W.wr == W.at && (k) == FIRST)
#else
#define HELD(w, k) false
#endif

proctype app_tx(byte w)
{
end:	do
#ifdef LOOKALIKE
	:: atomic { WILLING(w) && !W.want && W.wr < LIMIT(w) ->
		if
		:: W.want = ORDINARY
		:: W.want = FIRST
		:: W.mgen && W.st != RING -> W.want = SECOND(W.mgen)
#if GENS > 1
		:: W.mgen > 1 && W.st != RING -> W.want = SECOND(1)
#endif
		fi }
	:: atomic { WILLING(w) && W.want && CAN_TCP(w) &&
		    !COMPLETES(w, W.want) && !HELD(w, W.want) ->
		write_tcp(w, W.want); W.want = 0 }
	:: atomic { WILLING(w) && W.want && CAN_RING(w) ->
		W.wr++; W.want = 0 }
#else
	:: atomic { WILLING(w) && W.wr < LIMIT(w) && CAN_TCP(w) ->
		write_tcp(w, ORDINARY) }
#ifdef M_CHILDWRITES		/* a child writes, its parent does not know */
	:: atomic { WILLING(w) && W.wr < W.at && W.wr < LIMIT(w) &&
		    W.n < ROOM && (W.st == ANNOUNCED || W.st == ACKED) ->
		push(w, SYM(ORDINARY, W.wr + 1));
		W.wr++; W.at++ }
#endif
	:: atomic { WILLING(w) && W.wr < LIMIT(w) && CAN_RING(w) ->
		printf("app %d: byte %d to the ring\n", w, W.wr + 1);
		W.wr++ }
#endif
	:: atomic { WILLING(w) && !W.want && CAN_ACROSS(w) ->
		if
		:: across(w, 3)
		:: across(w, 4)
		:: across(w, 5)
		fi }
	/* It ends only where it could go on: one who waits for ever is seen. */
	:: atomic { WILLING(w) && !W.want && (W.wr == LIMIT(w) || CAN_WRITE(w)) ->
		shut_app(w) }
#ifdef SILENCE
	:: atomic { WILLING(w) && !W.want && (W.wr == LIMIT(w) || CAN_WRITE(w)) ->
		printf("app %d: waits\n", w);
		W.silent = 1 }
#endif
	od
}

/* ---- the sending loop, before the switch ---- */

#define MAY_ANNOUNCE(w) (W.st == PLAIN && !W.hold && !W.shut && \
	!W.disarming && \
	(W.doubt -> W.gen < 2 * GENS : W.reals < GENS && !W.pinned))
#ifdef M_OLDACK			/* any PREPARED will do */
#define FITS(w, g) true
#else
#define FITS(w, g) ((g) == W.gen)
#endif
#define PREPARED_FITS(w, g) ((g) <= 2 * GENS && (W.prepared & BIT(g)) && \
	!dead && FITS(w, g) && \
	(W.disarming || W.st == ANNOUNCED))

#ifdef M_HOLD
#define GIVES_UP false
#else
#define GIVES_UP dead
#endif

proctype loop_tx(byte w)
{
	byte ahead, g;

end:	do
	:: atomic { RUNS(w) && MAY_ANNOUNCE(w) ->
		ahead = 0;
		do
		:: ahead < AHEAD -> ahead++
		:: break
		od;
		announce(w, ahead);
		ahead = 0 }
	/* The writer rests short of N, or the path is silent. */
	:: atomic { RUNS(w) && (W.st == ANNOUNCED || W.st == ACKED) &&
		    (W.wr < W.at || GIVES_UP) ->
		printf("loop %d: withdraws %d\n", w, W.gen);
		W.st = PLAIN }
	:: atomic { RUNS(w) && (PREPARED_FITS(w, 1) || PREPARED_FITS(w, 2) ||
		    PREPARED_FITS(w, 3) || PREPARED_FITS(w, 4)) ->
		if
		:: PREPARED_FITS(w, 1) -> g = 1
		:: PREPARED_FITS(w, 2) -> g = 2
		:: PREPARED_FITS(w, 3) -> g = 3
		:: PREPARED_FITS(w, 4) -> g = 4
		fi;
		on_prepared(w, g);
		g = 0 }
#ifdef M_NOACK			/* who has announced may commit */
	:: atomic { RUNS(w) && W.st == ANNOUNCED -> W.st = ACKED }
#endif
	/* The application does the same when its write reaches N. */
	:: atomic { RUNS(w) && CAN_COMMIT(w) -> commit(w) }
	:: atomic { W.left && WHOLE(w) -> rest_of_marker(w) }
	od
}

/* ---- the sending loop, after it ---- */

#define DUE(w) (W.path != NONE && !W.busy && !W.left && \
	(FRAMES(w) || W.fin || W.raw || W.plain || W.sw))
#ifdef M_RAWSHUT		/* the end is due, but RAW comes first */
#define MAY_RAW(w) true
#else
#define MAY_RAW(w) (!W.shut)
#endif

/* No word from the peer for long: rightly, or as long as it may try again. */
#define STALLED(w) (W.again < SWITCHES || \
	((dead || !LOOP(1 - w)) && W.got < W.wr + W.ended))

proctype loop_ring(byte w)
{
end:	do
	:: atomic { RUNS(w) && W.st == RING && W.path == NONE ->
		W.path = (W.rawwanted -> TCP : TUX) }
	:: atomic { RUNS(w) && W.st == RING && W.path != NONE && W.shut &&
		    !W.ended ->
		W.ended = 1; W.fin = 1 }
	/* The peer says what it has. */
	:: atomic { RUNS(w) && W.path == TUX && !dead && W.rst == RING &&
		    W.got < W.rhead + SAID_ALL(w) ->
		W.got++ }
#ifdef M_CLAIM
	:: atomic { RUNS(w) && W.path == TUX && !dead && W.got < W.claim ->
		W.got++ }
#endif
	:: atomic { RUNS(w) && W.path == TUX && !W.done && STALLED(w) ->
		back(w) }
	:: atomic { RUNS(w) && W.path == TCP && !W.sw && W.busy != SWITCH &&
		    !W.rawwanted && !W.done && W.st == RING && !W.leaving &&
		    W.again < SWITCHES ->
		W.again++; W.sw = 1 }
	:: atomic { RUNS(w) && DUE(w) -> begin(w) }
	:: atomic { RUNS(w) && W.busy && W.n < ROOM -> frame_done(w) }
	/* Everything is settled: shutdown(SHUT_WR). */
	:: atomic { RUNS(w) && W.ended && W.got == W.wr + 1 && !W.busy &&
		    !W.fin && !W.left && !W.done ->
		printf("loop %d: shuts TCP down\n", w);
		W.done = 1; W.eof = 1;
#ifndef M_SWAFTERSHUT		/* a SWITCH that waits is still written */
		W.sw = 0
#endif
		}
#ifdef BREAKS
	:: atomic { RUNS(w) && !W.done -> give_up(w) }
	:: atomic { W.reset && !W.closed -> close_tx(w) }
#endif
#ifdef RAWS
	:: atomic { RUNS(w) && !W.rawwanted && RAWS(w) -> raw_wanted(w) }
	:: atomic { RUNS(w) && W.rawwanted && W.path == TCP && !W.busy &&
		    !W.raw && !W.left && W.off == W.wr && W.st == RING &&
		    MAY_RAW(w) ->
		plain_next(w) }
#endif
#ifdef LEAVES
	/* Plain is better for what it carries: the writer waits, all that is
	 * in flight arrives, or goes in frames. */
	:: atomic { RUNS(w) && W.st == RING && W.path != NONE && !W.shut &&
		    !W.rawwanted && !W.leaving && W.leaves < LEAVES ->
		printf("loop %d: leaves Tux\n", w);
		W.leaves++; W.leaving = 1; W.hold = 1; W.sw = 0 }
	:: atomic { RUNS(w) && W.leaving && !W.busy && !W.left &&
		    W.st == RING &&
#ifdef M_LEAVEFLIGHT		/* does not wait for what is in flight */
		    true ->
#else
		    ((W.path == TCP && W.off == W.wr) ||
		     (W.path == TUX && W.got == W.wr)) ->
#endif
		plain_next(w) }
#endif
	od
}

/* ---- the receiving application ---- */

#define PROVEN(w) (W.rhead > W.rat || W.rgot || W.rfin)
#ifdef M_NOBOUND		/* armed, but reads go on */
#define BOUND(w) false
#else
#define BOUND(w) (W.rst == ARMED && W.roff == W.rat)
#endif
#ifdef M_TCPFIRST		/* plain again: TCP before the rest of the ring */
#define DRAINED(w) true
#else
#define DRAINED(w) (W.roff >= W.rhead)
#endif
#define FROM_TCP(w) ((W.rst == PLAIN && DRAINED(w)) || CHILD(1 - w) || \
	(W.rst == ARMED && !BOUND(w)))
#define READS(w) (!gone[1 - w] && !W.reof && !W.rerr && !BUSY(1 - w))
#define AT_N(w) (!gone[1 - w] && !W.reof && !W.rerr && ADVANCES(1 - w) && \
	BOUND(w))
#define IS_FIRST(w) (KIND(W.q[0]) == FIRST)
#define IS_SECOND(w) (KIND(W.q[1]) == SECOND(W.rgen))
#define ACROSS(w) (W.n > 3 && KIND(W.q[1]) == FIRST && \
	KIND(W.q[2]) == SECOND(W.rgen) && KIND(W.q[3]) == DATA)

proctype app_rx(byte w)
{
end:	do
	:: atomic { READS(w) && FROM_TCP(w) && W.n > 0 -> read_tcp(w) }
	:: atomic { READS(w) && FROM_TCP(w) && W.n == 0 && W.eof -> end_rx(w) }
	:: atomic { READS(w) && FROM_TCP(w) && W.n == 0 && W.err -> err_rx(w) }
	:: atomic { READS(w) && (W.rst == RING || W.rst == PLAIN) &&
		    W.roff < W.rhead ->
		printf("app %d: byte %d from the ring\n", 1 - w, W.roff + 1);
		W.roff++ }
	:: atomic { READS(w) && W.rst == RING && W.rfin && W.roff == W.wr ->
		end_rx(w) }
#ifdef M_KERNELEOF		/* the kernel's end of file is the end */
	:: atomic { READS(w) && W.rst == RING && W.roff >= W.rhead &&
		    W.n == 0 && W.eof -> end_rx(w) }
#endif
	/* What stands at N? */
	:: atomic { AT_N(w) && W.n > 0 && !IS_FIRST(w) -> void_rx(w) }
	:: atomic { AT_N(w) && W.n > 1 && IS_FIRST(w) && !IS_SECOND(w) ->
		void_rx(w) }
	:: atomic { AT_N(w) && W.n > 1 && IS_FIRST(w) && IS_SECOND(w) ->
		read_marker(w, false) }
	/* A read gets whole what was written whole, if it has room. */
	:: atomic { READS(w) && ADVANCES(1 - w) && W.rst == ARMED &&
		    W.roff + 1 == W.rat && ACROSS(w) ->
		read_tcp(w);
		read_marker(w, true) }
	:: atomic { AT_N(w) && W.n == 0 && W.eof -> void_rx(w) }
	:: atomic { AT_N(w) && W.n == 0 && W.err -> err_rx(w) }
#ifndef M_PEEK			/* who only peeks cannot see what is behind */
	:: atomic { AT_N(w) && W.n == 1 && IS_FIRST(w) && W.eof -> void_rx(w) }
	:: atomic { AT_N(w) && W.n == 1 && IS_FIRST(w) && W.err ->
		pop(w); err_rx(w) }		/* half a marker, maybe */
#endif
	od
}

/* ---- the receiving loop ---- */

#define LISTENS(w) (LOOP(1 - w) && !W.rerr)
#define FLIES(w, i) (!dead && ((W.sent & BIT(i)) || \
	(W.path == TUX && (i) >= TUX_FROM(w) && (i) < W.wr)))
#define ARRIVES(w, i) (LISTENS(w) && !W.reof && FLIES(w, i) && \
	(i) >= W.rhead && !(W.rgot & BIT(i)) && \
	(i) < (W.roff > W.rat -> W.roff : W.rat) + RINGCAP)
#ifdef M_OLDPREPARE		/* whatever comes arms */
#define NEWER(w, g) ((g) != W.rgen)
#else
#define NEWER(w, g) ((g) > W.rgen)
#endif
#define PREPARE_NEW(w, g) (LISTENS(w) && !dead && (g) <= 2 * GENS && \
	W.prep[(g) % (2 * GENS + 1)] && NEWER(w, g) && MAY_ARM(w) && \
	IN_TURN(w, (g) % (2 * GENS + 1)))
#ifdef M_NOTURN			/* any newer PREPARE makes the older void */
#define IN_TURN(w, g) true
#else
#define IN_TURN(w, g) (W.pturn[g] == W.rturn)
#endif
#ifdef M_ARMFULL		/* arms while the ring has bytes */
#define MAY_ARM(w) (W.rst == PLAIN || W.rst == ARMED)
#else
#define MAY_ARM(w) ((W.rst == PLAIN && W.roff >= W.rhead) || W.rst == ARMED)
#endif

proctype loop_rx(byte w)
{
	byte i;

end:	do
	:: atomic { PREPARE_NEW(w, 1) || PREPARE_NEW(w, 2) ||
		    PREPARE_NEW(w, 3) || PREPARE_NEW(w, 4) ->
		if
		:: PREPARE_NEW(w, 1) -> i = 1
		:: PREPARE_NEW(w, 2) -> i = 2
		:: PREPARE_NEW(w, 3) -> i = 3
		:: PREPARE_NEW(w, 4) -> i = 4
		fi;
		arm(w, i);
		i = 0 }
#ifdef LOSSES
	:: atomic { W.lost < LOSSES && W.prepared ->
		printf("UDP: PREPARED is lost\n");
		W.lost++; W.prepared = 0 }
#ifndef M_ONCE			/* the answer is given once */
	:: atomic { LISTENS(w) && !dead && W.rgen && W.rgen == W.gen &&
		    !(W.prepared & BIT(W.rgen)) &&
		    (W.rst == ARMED || W.rat == NOWHERE) ->
		W.prepared = W.prepared | BIT(W.rgen) }
#endif
#endif
	:: atomic { ARRIVES(w, 0) || ARRIVES(w, 1) || ARRIVES(w, 2) ||
		    ARRIVES(w, 3) ->
		if
		:: ARRIVES(w, 0) -> i = 0
		:: ARRIVES(w, 1) -> i = 1
		:: ARRIVES(w, 2) -> i = 2
		:: ARRIVES(w, 3) -> i = 3
		fi;
		printf("loop %d: byte %d over Tux\n", 1 - w, i + 1);
		assert(W.rst != PLAIN && i >= W.rat);
		take(w, i);
		i = 0 }
	:: atomic { LISTENS(w) && !dead && !W.rfin &&
		    (W.tuxfin || (W.path == TUX && W.ended)) ->
		printf("loop %d: FIN over Tux\n", 1 - w);
		assert(W.rst != PLAIN);
		W.rfin = 1; W.tuxfin = 0 }
	/* Stream data proves the commitment. */
	:: atomic { LISTENS(w) && BOUND(w) && PROVEN(w) -> switch_rx(w, 2) }
#ifdef M_OLDPROVES		/* ... also what is left from before */
	:: atomic { LISTENS(w) && BOUND(w) && W.rturn && !dead ->
		switch_rx(w, 2) }
#endif
	:: atomic { LISTENS(w) && W.rst == RING && W.rleft && W.n > 0 ->
		assert(!NUM(W.q[0]) && KIND(W.q[0]) < DATA);
		pop(w); W.rleft-- }
	:: atomic { LISTENS(w) && W.rst == RING && !W.rleft && W.n > 0 &&
		    (KIND(W.q[0]) != DATA || NUM(W.q[0]) < W.roff + RINGCAP) ->
		printf("loop %d: frame %d at %d\n", 1 - w, KIND(W.q[0]),
		       NUM(W.q[0]));
		if
#ifdef M_DROPREST		/* the reader has it, so the ring need not */
		:: KIND(W.q[0]) == DATA && NUM(W.q[0]) < W.roff
		:: KIND(W.q[0]) == DATA && NUM(W.q[0]) >= W.roff ->
			take(w, NUM(W.q[0]))
#else
		:: KIND(W.q[0]) == DATA -> take(w, NUM(W.q[0]))
#endif
		:: KIND(W.q[0]) == FIN ->
			assert(NUM(W.q[0]) == W.wr);
			W.rfin = 1; W.tuxfin = 0
		:: KIND(W.q[0]) == SWITCH
		:: KIND(W.q[0]) == PLAINF || KIND(W.q[0]) == RAWF ->
			assert(NUM(W.q[0]) == W.rhead);
			W.rst = PLAIN;
			if
			:: KIND(W.q[0]) == RAWF ->
				W.rpinned = 1;
				RAW_TOO(1 - w)
			:: else -> W.rturn++
			fi
		:: else -> assert(false)		/* no frame */
		fi;
		pop(w) }
	:: atomic { LISTENS(w) && !W.reof && W.rst == RING && W.n == 0 &&
		    (W.eof || W.err) && !SAID_ALL(w) && W.roff >= W.rhead ->
		err_rx(w) }
#ifdef BREAKS
	/* RESET overtakes what is on TCP, so the end of that is waited for. */
	:: atomic { LISTENS(w) && !dead && W.reset && W.rst == RING &&
		    !W.told ->
		printf("loop %d: RESET is here\n", 1 - w);
		W.told = 1 }
	:: atomic { LISTENS(w) && !W.reof && W.told && !SAID_ALL(w) &&
		    W.rst == RING && W.roff >= W.rhead ->
#ifndef M_RESETNOW		/* not even for a while */
		W.late = W.n > 0;
#endif
		err_rx(w) }
#endif
	od
}

/* ---- what may happen to them ---- */

#if defined(M_LATEMARKER) || defined(M_TORN)
#define BETWEEN(e) false
#else
#define BETWEEN(e) ((e) < WAYS && way[(e) % WAYS].left)	/* TCP has it whole */
#endif

/* The kernel tells the other end, by FIN or by RST... */
inline crash_tx(e)
{
	if
	:: way[e].eof = 1
	:: cut_off(e)
	fi
}

/* ... and what was sent to this one has no reader. */
inline crash_rx(v)
{
	do
	:: way[v].n > 0 -> way[v].n--; way[v].q[way[v].n] = 0
	:: else -> break
	od
}

/* What can go wrong will, or not: it may rest from any moment on. */
proctype world()
{
end:	do
	:: break
#ifdef DIES
	:: atomic { !dead -> printf("UDP: dead\n"); dead = true }
#endif
#ifdef CRASHES
	:: atomic { !gone[0] && !gone[1] && !BETWEEN(0) ->
		printf("end 0: killed\n");
		gone[0] = true;
#if WAYS > 1
		crash_rx(1);
#endif
		crash_tx(0) }
	:: atomic { !gone[0] && !gone[1] && !BETWEEN(1) ->
		printf("end 1: killed\n");
		gone[1] = true;
#if WAYS > 1
		crash_tx(1);
#endif
		crash_rx(0) }
#endif
#ifdef FORKS			/* a child touches it: plain on both sides only */
	:: atomic { way[0].st == PLAIN && !way[0].doubt && !way[0].pinned &&
		    !way[0].hold ->
		printf("end 0: a child writes\n");
		way[0].pinned = 1 }
	:: atomic { way[0].rst == PLAIN && !way[0].rpinned &&
		    way[0].roff >= way[0].rhead ->
		printf("end 1: a child reads\n");
		way[0].rpinned = 1 }
#endif
	od
}

/* ---- how it must end ---- */

/* The two exceptions.  UDP died when a generation was in doubt, and the writer
 * waits inside of what may be its marker; or it insists on the whole of it. */
#define IN_DOUBT(w) (dead && W.doubt && W.wr == W.at + 1 && W.roff == W.at)
#define INSISTS(w) (dead && W.want && COMPLETES(w, W.want))
#define SETTLED(w) (W.st != ANNOUNCED && W.st != ACKED && !W.doubt)

proctype referee(byte w)
{
	do
	:: timeout ->
		if
		:: gone[w] || BROKE(w) -> assert(W.reof || W.rerr)
		:: !gone[w] && gone[1 - w] ->
			assert(W.broken || W.silent || W.eof)
		:: else ->
			assert(!W.broken && !W.rerr);
			/* no writer waits */
			assert(W.shut || W.silent || INSISTS(w));
			assert(!W.shut || W.eof && W.reof);
			assert(!W.silent || W.roff == W.wr || IN_DOUBT(w));
			assert(!W.silent || dead || W.pinned || W.rpinned ||
			       SETTLED(w));
			assert(!W.rawwanted || W.st != RING || W.shut)
		fi;
		break
	od
}
