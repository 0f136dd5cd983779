/* SPDX-License-Identifier: BSD-2-Clause */
#include "stack/spin.h"

#include <string.h>
#include <sys/resource.h>

#include "sys/sys.h"

enum {
	CUT_NS = 1000000,
	MEAN_MAX_US = 600,	/* a sleep's two wake-ups are in it */
	WEIGHT = 4,
	PENALTY_MIN = 8,
	PENALTY_MAX = 256,
	LATE_MAX = 2 * PENALTY_MIN,	/* or two ends may spin in turns */
	GAP_US = 4,		/* between two looks, if nothing interrupts */
	PAID_ENOUGH = 64,	/* spins that paid: then a lost one is free */
};

static uint64_t thread_preempted(void)
{
	struct rusage u = { .ru_nivcsw = 0 };

	tux_sys_getrusage(RUSAGE_THREAD, &u);
	return (uint64_t)u.ru_nivcsw;
}

void tux_spin_init(struct tux_spin *s, enum tux_spin_how how)
{
	memset(s, 0, sizeof(*s));
	s->mean_ns = CUT_NS;
	s->penalty = PENALTY_MIN;
	s->preempted = thread_preempted;
	s->never = how == TUX_SPIN_BESIDE && tux_sys_cpus() < 2;
	s->always = how == TUX_SPIN_ALWAYS;
}

static bool waits_are_long(const struct tux_spin *s)
{
	return s->never || s->mean_ns > TUX_USEC(MEAN_MAX_US);
}

/* An eighth more than what a sleep takes: the peer's wake-up varies. */
static tux_time spin_length(const struct tux_spin *s)
{
	tux_time sleep = (tux_time)s->slept_ns + s->slept_ns / 8;

	return tux_time_min(tux_time_max(sleep, TUX_USEC(TUX_SPIN_MIN_US)),
			    TUX_USEC(TUX_SPIN_MAX_US));
}

static tux_time spin_for(struct tux_spin *s)
{
	if (waits_are_long(s))
		return 0;
	if (s->skip) {
		s->skip--;
		return 0;
	}
	return spin_length(s);
}

void tux_spin_begin(struct tux_spin *s, tux_time now)
{
	s->since = now;
	s->waits = s->on = s->at_once = false;
}

bool tux_spin_sleeps_at_once(const struct tux_spin *s)
{
	return !s->always && s->slept && (waits_are_long(s) || s->skip);
}

static void first_look(struct tux_spin *s)
{
	tux_time in = spin_for(s);

	s->waits = true;
	s->until = s->since + in;
	s->on = in > 0;
}

void tux_spin_begin_asleep(struct tux_spin *s, tux_time now)
{
	tux_spin_begin(s, now);
	first_look(s);
	s->at_once = true;
}

static void lose_spin(struct tux_spin *s)
{
	s->on = false;
	s->paid = 0;
	s->skip = s->penalty;
	if (s->penalty < PENALTY_MAX)
		s->penalty *= 2;
}

/* The spin has found nothing in its time.  Behind many that paid, that is chance. */
static void end_in_vain(struct tux_spin *s)
{
	if (s->paid < PAID_ENOUGH) {
		lose_spin(s);
		return;
	}
	s->on = false;
	s->paid = 0;
}

/* Has another thread run on this processor since the last look?  Only a long gap
 * makes it worth a system call. */
static bool lost_processor(struct tux_spin *s, tux_time now)
{
	uint64_t before = s->preemptions;

	if (tux_time_since(s->looked, now) < TUX_USEC(GAP_US))
		return false;
	s->preemptions = s->preempted();
	return s->preemptions != before;
}

bool tux_spin_more(struct tux_spin *s, tux_time now)
{
	if (s->always)
		return true;
	if (!s->waits)
		first_look(s);
	if (s->on && now >= s->until)
		end_in_vain(s);
	s->looked = now;
	return s->on;
}

/* Has a spin of @in saved a third of what a sleep takes?  What comes soon always
 * pays. */
static bool saves(const struct tux_spin *s, tux_time in)
{
	return in <= tux_time_max(TUX_USEC(TUX_SPIN_MIN_US),
				  (tux_time)s->slept_ns * 2 / 3);
}

/* A spin has found something after @in. */
static void judge_spin(struct tux_spin *s, tux_time in, bool cut)
{
	s->late = saves(s, in) ? 0 : (uint8_t)(s->late + 1);
	if (!s->late && !cut && s->paid < PAID_ENOUGH)
		s->paid++;
	if (s->late >= LATE_MAX || (cut && s->cut)) {
		s->late = 0;
		lose_spin(s);
	} else if (!s->late && !cut && s->penalty > PENALTY_MIN) {
		s->penalty /= 2;
	}
	s->cut = cut;
}

static uint32_t mean(uint32_t was, tux_time in)
{
	return was - was / WEIGHT + (uint32_t)in / WEIGHT;
}

void tux_spin_end(struct tux_spin *s, tux_time now)
{
	tux_time in = tux_time_min(tux_time_since(s->since, now), CUT_NS);

	/* A sleep that took no time found what had been there before. */
	s->slept = s->waits && !s->on &&
		   !(s->at_once && in < TUX_USEC(GAP_US));
	if (!s->waits || (s->at_once && !s->slept))
		return;
	s->mean_ns = mean(s->mean_ns, in);
	/* A longer one was no two wake-ups. */
	if (s->slept && in <= TUX_USEC(MEAN_MAX_US))
		s->slept_ns = mean(s->slept_ns, in);
	if (s->on)
		judge_spin(s, in, lost_processor(s, now));
	s->on = false;
}
