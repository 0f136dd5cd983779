/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tuxd - loads, unloads and shows the programs that announce Tux in TCP's
 * handshake for every process of a cgroup
 *
 * It does one thing and ends.  The programs stay in the kernel, and no data
 * passes through a process of its own.
 */
#include "config.h"

#include <stdio.h>

#include "fault.h"
#include "option.h"
#include "place.h"
#include "program.h"

/* What status says by its exit, as the LSB has it for services. */
enum { EXIT_OK, EXIT_FAULT, EXIT_USAGE, EXIT_ABSENT, EXIT_DAMAGED };

static const char usage[] =
	"usage: tuxd load|unload|status [--cgroup DIR] [--bpffs DIR]\n"
	"            [--ports LO-HI]\n";

static const char help[] =
	"Announces Tux in TCP's handshakes, for every process of a cgroup.\n"
	"\n"
	"  load             attach the programs, and leave them there\n"
	"  unload           take them off; connections go on\n"
	"  status           say whether they are there\n"
	"      --cgroup DIR   of the cgroup-v2 tree; its root if not given\n"
	"      --bpffs DIR    where BPF objects are pinned (/sys/fs/bpf)\n"
	"      --ports LO-HI  UDP ports that processes use, for firewalls\n"
	"      --help         this text\n"
	"      --version      the version\n"
	"\n"
	"See tuxd(8).\n";

static int say_fault(const struct fault *f)
{
	fprintf(stderr, "tuxd: %s\n", f->text);
	return EXIT_FAULT;
}

static int say_ports(const struct place *p, const struct tux_bpf_conf *c,
		     unsigned listeners)
{
	printf("tuxd: loaded on %s; %u listeners", p->cgroup, listeners);
	if (c->low)
		printf("; UDP ports %u-%u", c->low, c->high);
	putchar('\n');
	return EXIT_OK;
}

/* ---- commands ---- */

/* It is there already: is it what was asked for? */
static bool same_conf(const struct place *p, const struct tux_bpf_settings *is,
		      const struct tux_bpf_conf *wanted, struct fault *f)
{
	if (is->conf.abi != wanted->abi || is->maps != TUX_BPF_MAPS)
		return fault_is(f, "another version of tuxd is loaded on %s; "
				"'tuxd unload' takes it off", p->cgroup);
	if (is->conf.low != wanted->low || is->conf.high != wanted->high)
		return fault_is(f, "tuxd is loaded on %s with other ports; "
				"'tuxd unload' takes it off", p->cgroup);
	return true;
}

static bool load_anew(const struct place *p, const struct tux_bpf_conf *wanted,
		      struct fault *f)
{
	struct fault other;

	program_detach(p);
	if (!place_clear(p, f) || !place_make(p, f))
		return false;
	if (program_load(p, wanted, f))
		return true;
	program_detach(p);
	place_clear(p, &other);
	return false;
}

static int do_load(struct place *p, const struct option_args *a,
		   struct fault *f)
{
	const struct tux_bpf_conf wanted = { TUX_BPF_ABI, a->low, a->high };
	struct tux_bpf_settings is;
	unsigned listeners = 0;
	bool ok;

	if (!place_lock(p, f))
		return say_fault(f);
	if (program_look(p, &is, &listeners, f) == PROGRAM_THERE)
		ok = same_conf(p, &is, &wanted, f) &&
		     program_renew(p, &wanted, f);
	else
		ok = load_anew(p, &wanted, f);
	return ok ? say_ports(p, &wanted, listeners) : say_fault(f);
}

static int do_unload(struct place *p, const struct option_args *a,
		     struct fault *f)
{
	bool has;

	(void)a;
	if (!place_lock(p, f) || !place_has_pins(p, &has, f))
		return say_fault(f);
	program_detach(p);
	if (!place_clear(p, f))
		return say_fault(f);
	printf("tuxd: %s on %s\n", has ? "unloaded" : "was not loaded",
	       p->cgroup);
	return EXIT_OK;
}

static int do_status(struct place *p, const struct option_args *a,
		     struct fault *f)
{
	enum program_state state;
	struct tux_bpf_settings is;
	unsigned listeners;
	bool has;

	(void)a;
	if (!place_has_pins(p, &has, f))
		return say_fault(f);
	state = program_look(p, &is, &listeners, f);
	/* Unless another tuxd is at work at this moment. */
	if (state == PROGRAM_DAMAGED && place_lock(p, f))
		state = program_look(p, &is, &listeners, f);
	switch (state) {
	case PROGRAM_THERE:
		return say_ports(p, &is.conf, listeners);
	case PROGRAM_DAMAGED:
		printf("tuxd: damaged on %s: %s; 'tuxd load' makes it anew\n",
		       p->cgroup, f->text);
		return EXIT_DAMAGED;
	default:
		printf("tuxd: not loaded on %s; 'tuxd load' loads it\n",
		       p->cgroup);
		return EXIT_ABSENT;
	}
}

static int do_command(const struct option_args *a)
{
	static int (*const command[])(struct place *,
				      const struct option_args *,
				      struct fault *) = {
		[OPTION_LOAD] = do_load,
		[OPTION_UNLOAD] = do_unload,
		[OPTION_STATUS] = do_status,
	};
	struct fault f;
	struct place p;
	int code;

	code = place_find(&p, a, &f) ? command[a->what](&p, a, &f) :
	       say_fault(&f);
	place_close(&p);
	return code;
}

int main(int argc, char **argv)
{
	struct option_args a;
	const char *bad, *wrong = option_parse(&a, argc, argv, &bad);

	if (wrong) {
		fprintf(stderr, "tuxd: %s%s%s\n%s", wrong, *bad ? " " : "",
			bad, usage);
		return EXIT_USAGE;
	}
	if (a.what == OPTION_HELP)
		printf("%s\n%s", usage, help);
	else if (a.what == OPTION_VERSION)
		printf("tuxd " PACKAGE_VERSION "\n");
	else
		return do_command(&a);
	return EXIT_OK;
}
