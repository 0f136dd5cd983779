/* SPDX-License-Identifier: BSD-2-Clause */
#include "sock/say.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>

#include "ground/conf.h"
#include "ground/libc.h"
#include "ground/process.h"
#include "stack/mode.h"
#include "sys/fd.h"

enum {
	LINE = 400,
};

static int out = -1;

struct line {
	char text[LINE];
	size_t len;
};

static void say_put(struct line *l, const char *s)
{
	while (*s && l->len < sizeof(l->text) - 1)
		l->text[l->len++] = *s++;
}

static void put_number(struct line *l, uint64_t n, unsigned base)
{
	char digits[24];
	int i = sizeof(digits) - 1;

	digits[i] = 0;
	do
		digits[--i] = "0123456789abcdef"[n % base];
	while ((n /= base) != 0);
	say_put(l, digits + i);
}

static void put_v4(struct line *l, const uint8_t *ip)
{
	for (int i = 0; i < 4; i++) {
		if (i)
			say_put(l, ".");
		put_number(l, ip[i], 10);
	}
}

/* The first run of two or more zero groups is left out. */
static void put_v6(struct line *l, const uint8_t *ip)
{
	unsigned group[8];
	bool cut = false;
	bool sep = false;

	for (int i = 0; i < 8; i++)
		group[i] = (unsigned)ip[2 * i] << 8 | ip[2 * i + 1];
	say_put(l, "[");
	for (int i = 0; i < 8; i++) {
		if (!cut && i < 7 && !group[i] && !group[i + 1]) {
			while (i < 7 && !group[i + 1])
				i++;
			say_put(l, "::");
			cut = true;
			sep = false;
			continue;
		}
		if (sep)
			say_put(l, ":");
		put_number(l, group[i], 16);
		sep = true;
	}
	say_put(l, "]");
}

static void put_addr(struct line *l, const struct tux_addr *a)
{
	if (tux_addr_is_v4(a))
		put_v4(l, a->ip + 12);
	else
		put_v6(l, a->ip);
	say_put(l, ":");
	put_number(l, a->port, 10);
}

/* In one write, so that lines of several threads do not mix. */
static void send_line(struct line *l)
{
	int saved = errno;

	l->text[l->len++] = '\n';
	(void)!libc.write(out, l->text, l->len);
	errno = saved;
}

static void say_mode(const char *mode)
{
	struct line l = { .len = 0 };

	say_put(&l, "tux: TUX_MODE '");
	say_put(&l, mode);
	say_put(&l, "' is neither 'inline' nor 'threads=N' with N from 1 to ");
	put_number(&l, TUX_LOOPS_MAX, 10);
	say_put(&l, ": inline");
	send_line(&l);
}

void say_init(void)
{
	if (!conf.verbose)
		return;
	out = tux_fd_copy(2);
	if (conf.bad_mode)
		say_mode(conf.bad_mode);
}

bool say_verbose(void)
{
	return out >= 0 && !process_is_sandboxed();
}

static void put_count(struct line *l, const char *word, uint64_t n)
{
	say_put(l, word);
	put_number(l, n, 10);
}

/* The numbers from which the choice of the path followed. */
static void put_grounds(struct line *l, const struct tux_grounds *g)
{
	put_count(l, "; turns ", g->turns);
	put_count(l, ", mean burst sent ", g->sent);
	put_count(l, " received ", g->received);
	if (g->limit)
		put_count(l, " limit ", g->limit);
	if (g->tux_rate)
		put_count(l, ", kB/s tux ", g->tux_rate / 1000);
	if (g->tcp_rate)
		put_count(l, " tcp ", g->tcp_rate / 1000);
}

/* Was the path chosen by what the connection carries? */
static bool is_chosen(bool tux, enum tux_reason why)
{
	return conf.path == TUX_PATH_MODE_AUTO &&
	       (tux || tux_reason_is_measured(why));
}

static void say_path(const struct sock *s, bool tux, enum tux_reason why,
		     const struct tux_grounds *g)
{
	struct line l = { .len = 0 };

	say_put(&l, "tux: ");
	put_addr(&l, &s->tuple.active);
	say_put(&l, " > ");
	put_addr(&l, &s->tuple.passive);
	say_put(&l, " fd ");
	put_number(&l, (unsigned)s->fd, 10);
	say_put(&l, tux ? ": tux" : ": tcp, ");
	if (!tux) {
		say_put(&l, tux_reason_word(why));
		say_put(&l, ": ");
		say_put(&l, tux_reason_sentence(why));
	}
	if (g && is_chosen(tux, why))
		put_grounds(&l, g);
	send_line(&l);
}

/* Apart from the line, which is filled with zeros before it is written. */
void say_decided(const struct sock *s, bool tux, enum tux_reason why,
		 const struct tux_grounds *g)
{
	if (say_verbose())
		say_path(s, tux, why, g);
}

void say_failed(const char *what, int err)
{
	struct line l = { .len = 0 };

	if (out < 0)
		return;
	say_put(&l, "tux: cannot ");
	say_put(&l, what);
	say_put(&l, ": ");
	say_put(&l, strerrordesc_np(err) ? strerrordesc_np(err) : "error");
	send_line(&l);
}

/* Frames that are missing are too few, or counted twice. */
static void put_frames(struct line *l, const struct tux_tally *t)
{
	int64_t missing = tux_tally_missing(t);

	put_count(l, ", frames ", t->frames);
	put_count(l, " free ", t->free);
	put_count(l, " fill ", t->fill);
	put_count(l, " held ", t->held);
	put_count(l, " built ", t->built);
	put_count(l, " sent ", t->sent);
	say_put(l, missing < 0 ? " missing -" : " missing ");
	put_number(l, (uint64_t)(missing < 0 ? -missing : missing), 10);
}

static void put_traffic(struct line *l, const struct tux_tally *t)
{
	put_count(l, ", rx ", t->rx);
	put_count(l, " tx ", t->tx);
	put_count(l, " kicks ", t->kicks);
	put_count(l, " again ", t->again);
	put_count(l, " nudges ", t->nudges);
	put_count(l, " dropped ", t->dropped);
	put_count(l, " starved ", t->starved);
	put_count(l, " invalid ", t->invalid);
}

static void put_features(struct line *l, const struct tux_feature *f)
{
#define X(name, bit, word) \
	if (f->xdp & TUX_FEATURE_##name) \
		say_put(l, " " word);
	say_put(l, f->known ? ", driver" : ", driver unknown");
	TUX_FEATURES(X)
#undef X
	if (f->zc_segs)
		put_count(l, " zc-segs ", f->zc_segs);
	if (f->xsk)
		put_count(l, " xsk-features ", f->xsk);
}

static void put_give_way(struct line *l, const struct tux_give_way *y)
{
	put_count(l, ", others kB/s ", y->others / 1000);
	put_count(l, " cost ms/s ", y->cost / TUX_MSEC(1));
	put_count(l, " gain ms/s ", y->gain / TUX_MSEC(1));
	put_count(l, " hold s ", y->hold / TUX_SEC(1));
}

void say_link(const struct tux_link_note *n)
{
	static const char *const what[] = {
		[TUX_LINK_TAKEN] = ": taken",
		[TUX_LINK_LEFT] = ": given back",
		[TUX_LINK_COUNTED] = ": still taken",
		[TUX_LINK_REFUSED] = ": zero copy was refused, so it copies",
		[TUX_LINK_STUCK] = ": zero copy dropped, as nothing leaves",
		[TUX_LINK_DEAF] = ": zero copy dropped, as nothing arrives",
		[TUX_LINK_DENIED] = ": the process has given up its privilege: "
			"what is on Tux stays there, new connections stay on "
			"TCP",
		[TUX_LINK_GIVES_WAY] = ": left to other programs",
		[TUX_LINK_RETURNS] = ": other programs need it less",
	};
	struct line l = { .len = 0 };

	if (out < 0)
		return;
	say_put(&l, "tux: ");
	say_put(&l, n->ifname);
	say_put(&l, what[n->what]);
	if (n->what <= TUX_LINK_COUNTED) {
		put_count(&l, ", queues ", n->tally->queues);
		put_count(&l, " zerocopy ", n->tally->zerocopy);
	}
	if (n->what == TUX_LINK_TAKEN) {
		put_features(&l, n->feature);
	} else if (n->what <= TUX_LINK_COUNTED) {
		put_frames(&l, n->tally);
		put_traffic(&l, n->tally);
	} else if (n->what >= TUX_LINK_GIVES_WAY) {
		put_give_way(&l, n->give_way);
	}
	send_line(&l);
}
