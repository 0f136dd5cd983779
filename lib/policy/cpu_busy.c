/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cpu_busy - whether a loop leaves its connections to TCP, since the processors
 * are busy
 */
#include "policy/cpu_busy.h"

static const struct tux_backoff_rule leaving = {
	.min = TUX_SEC(TUX_CPU_BUSY_MIN_S),
	.max = TUX_SEC(TUX_CPU_BUSY_MAX_S),
	.calm = TUX_SEC(TUX_CPU_BUSY_MAX_S),
};

void tux_cpu_busy_init(struct tux_cpu_busy *b)
{
	*b = (struct tux_cpu_busy){ .away = false };
}

static void busy_begin(struct tux_cpu_busy *b,
		       const struct tux_cpu_busy_seen *s, tux_time now)
{
	b->begun = true;
	b->seen = *s;
	b->at = now;
}

/* What has happened between two looks. */
static struct tux_cpu_busy_seen busy_between(const struct tux_cpu_busy_seen *a,
					     const struct tux_cpu_busy_seen *b)
{
	return (struct tux_cpu_busy_seen){
		.ran = b->ran - a->ran,
		.waited = b->waited - a->waited,
		.sleeps = b->sleeps - a->sleeps,
		.packets = b->packets - a->packets,
		.conns = b->conns,
	};
}

static bool come_singly(const struct tux_cpu_busy_seen *d)
{
	return d->conns < TUX_CPU_BUSY_FEW || 2 * d->packets <= 3 * d->sleeps;
}

/* Does a thread that has run for @ran in a time of @span take enough of it to
 * cost others something? */
static bool matters(tux_time ran, tux_time span)
{
	return ran * TUX_CPU_BUSY_RAN >= span;
}

/* @d in a time of @span. */
static bool costs_more_than_tcp(const struct tux_cpu_busy_seen *d,
				tux_time span)
{
	return matters(d->ran, span) && d->waited >= d->ran && come_singly(d);
}

/* Too little has happened to tell. */
static bool says_nothing(const struct tux_cpu_busy_seen *d)
{
	return d->sleeps < TUX_CPU_BUSY_SLEEPS &&
	       d->packets < 2 * (uint64_t)TUX_CPU_BUSY_SLEEPS;
}

static enum tux_cpu_busy_do busy_leave(struct tux_cpu_busy *b, tux_time now)
{
	b->away = true;
	b->next = now + tux_backoff_again(&b->holds, &leaving, now);
	return TUX_CPU_BUSY_LEAVE;
}

static enum tux_cpu_busy_do busy_return(struct tux_cpu_busy *b)
{
	b->away = b->begun = false;
	b->row = 0;
	return TUX_CPU_BUSY_RETURN;
}

enum tux_cpu_busy_do tux_cpu_busy_look(struct tux_cpu_busy *b,
				       const struct tux_cpu_busy_seen *s,
				       tux_time now)
{
	struct tux_cpu_busy_seen d;

	if (now < b->next)
		return TUX_CPU_BUSY_STAY;
	if (b->away)
		return busy_return(b);
	b->next = now + TUX_MSEC(TUX_CPU_BUSY_LOOK_MS);
	d = busy_between(&b->seen, s);
	if (!b->begun || s->thread != b->seen.thread) {
		b->row = 0;
	} else if (!says_nothing(&d)) {
		b->row = costs_more_than_tcp(&d, now - b->at) ? b->row + 1 : 0;
	} else if (now < b->at + TUX_MSEC(TUX_CPU_BUSY_IDLE_MS)) {
		return TUX_CPU_BUSY_STAY;
	} else {
		b->row = 0;
	}
	busy_begin(b, s, now);
	return b->row < TUX_CPU_BUSY_ROW ? TUX_CPU_BUSY_STAY :
	       busy_leave(b, now);
}

bool tux_cpu_busy_start_look(struct tux_cpu_busy_start *b,
			     const struct tux_cpu_busy_seen *s, tux_time now)
{
	struct tux_cpu_busy_seen from = b->seen, d;
	bool anew = !b->at || s->ran < b->seen.ran;
	tux_time enough;

	/* How long the thread has been there is not known. */
	if (anew)
		from = (struct tux_cpu_busy_seen){ .packets = b->seen.packets };
	d = busy_between(&from, s);
	enough = b->busy && !anew ? d.ran / 2 : d.ran;
	b->busy = matters(d.ran, anew ? 0 : now - b->at) &&
		  d.waited >= enough && (says_nothing(&d) || come_singly(&d));
	b->seen = *s;
	b->at = now;
	return b->busy;
}
