/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tuxrun - run a program with the libtux preload object
 *
 * Options become the environment variables that the object reads, the object
 * joins LD_PRELOAD, and the program takes this process over.  What fails
 * before that exits as env(1) does: 125, or 126 and 127 for the program.
 */
#include "config.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <net/if.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "stack/mode.h"
#include "tuxd_bpf.h"

#define PRELOAD "libtux-preload.so"

enum { EXIT_SELF = 125, EXIT_NOEXEC = 126, EXIT_NOENT = 127 };

static const char usage[] =
	"usage: tuxrun [-i IFACE] [-m inline|threads=N] [--io auto|xdp|udp]\n"
	"              [--attach=start|demand] [--zero-copy=off|auto|on]\n"
	"              [--path=auto|tux|tcp] [--congestion=cubic|newreno] [-v]\n"
	"              PROGRAM [ARG]...\n";

static const char help[] =
	"Runs PROGRAM so that its TCP connections can move to Tux.\n"
	"\n"
	"  -i, --interface IFACE  only connections over IFACE; lo is possible\n"
	"  -m, --mode MODE        inline: waiting threads drive the network;\n"
	"                         threads=N: N threads do nothing else\n"
	"      --io BACKEND       how packets travel: xdp, by AF_XDP; udp, by UDP\n"
	"                         sockets without a key; auto: xdp, or udp with\n"
	"                         a key\n"
	"      --attach=start     take the interface at once, and keep it\n"
	"      --zero-copy=auto   AF_XDP without copying, where that works\n"
	"      --path=PATH        auto: the path that is faster; tux: Tux whenever\n"
	"                         both ends can; tcp: never\n"
	"      --congestion=NAME  how fast to send: cubic or newreno\n"
	"  -v, --verbose          one line per connection on standard error\n"
	"  -h, --help             this text\n"
	"      --version          the version\n"
	"\n"
	"See tuxrun(1).\n";

enum {
	OPT_IO = 256, OPT_ATTACH, OPT_ZERO_COPY, OPT_CONGESTION, OPT_PATH,
	OPT_VERSION,
};

#ifdef TUX_XDP
static const bool have_xdp = true;
#else
static const bool have_xdp = false;
#endif

static const struct option options[] = {
	{ "interface", required_argument, NULL, 'i' },
	{ "mode", required_argument, NULL, 'm' },
	{ "io", required_argument, NULL, OPT_IO },
	{ "attach", required_argument, NULL, OPT_ATTACH },
	{ "zero-copy", required_argument, NULL, OPT_ZERO_COPY },
	{ "congestion", required_argument, NULL, OPT_CONGESTION },
	{ "path", required_argument, NULL, OPT_PATH },
	{ "verbose", no_argument, NULL, 'v' },
	{ "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, OPT_VERSION },
	{ NULL, 0, NULL, 0 },
};

__attribute__((noreturn, format(printf, 2, 3)))
static void die(int code, const char *fmt, ...)
{
	va_list ap;

	fputs("tuxrun: ", stderr);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	exit(code);
}

static void set(const char *name, const char *value)
{
	if (setenv(name, value, 1))
		die(EXIT_SELF, "%s: %s", name, strerror(errno));
}

static void set_interface(const char *name)
{
	if (!if_nametoindex(name))
		die(EXIT_SELF, "no interface '%s'", name);
	set("TUX_IFACE", name);
}

static void set_mode(const char *mode)
{
	if (tux_mode_threads(mode) < 0)
		die(EXIT_SELF, "mode '%s' is neither 'inline' nor "
		    "'threads=N' with N from 1 to %d", mode, TUX_LOOPS_MAX);
	set("TUX_MODE", mode);
}

static void set_io(const char *io)
{
	if (strcmp(io, "udp") && strcmp(io, "xdp") && strcmp(io, "auto"))
		die(EXIT_SELF, "backend '%s' is neither 'auto' nor 'xdp' nor "
		    "'udp'", io);
	if (!have_xdp && !strcmp(io, "xdp"))
		die(EXIT_SELF, "this build has no AF_XDP backend; "
		    "'--io udp' works everywhere");
	set("TUX_IO", io);
}

static void set_attach(const char *when)
{
	if (strcmp(when, "start") && strcmp(when, "demand"))
		die(EXIT_SELF, "attach '%s' is neither 'start' nor 'demand'",
		    when);
	set("TUX_ATTACH", when);
}

static void set_zero_copy(const char *when)
{
	if (strcmp(when, "off") && strcmp(when, "auto") && strcmp(when, "on"))
		die(EXIT_SELF, "zero copy '%s' is neither 'off' nor 'auto' "
		    "nor 'on'", when);
	set("TUX_ZERO_COPY", when);
}

static void set_path(const char *path)
{
	if (strcmp(path, "auto") && strcmp(path, "tux") && strcmp(path, "tcp"))
		die(EXIT_SELF, "path '%s' is neither 'auto' nor 'tux' nor "
		    "'tcp'", path);
	set("TUX_PATH", path);
}

static void set_congestion(const char *name)
{
	if (strcmp(name, "cubic") && strcmp(name, "newreno"))
		die(EXIT_SELF, "congestion control '%s' is neither 'cubic' nor "
		    "'newreno'", name);
	set("TUX_CONGESTION", name);
}

/* Why AF_XDP cannot work, as far as can be seen from here; NULL. */
static const char *why_not_xdp(void)
{
	const char *iface = getenv("TUX_IFACE");
	int fd;

	if (!have_xdp)
		return "this build has no AF_XDP backend";
	if (iface && !strcmp(iface, "lo"))
		return "AF_XDP does not work on lo";
	fd = socket(AF_XDP, SOCK_RAW, 0);
	if (fd < 0)
		return "no AF_XDP without privilege";
	close(fd);
	return NULL;
}

/* Does tuxd make keys, for UDP sockets to be used without AF_XDP? */
static bool have_tuxd(void)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	bool have = fd >= 0 &&
		    setsockopt(fd, TUX_BPF_LEVEL, TUX_BPF_CONF, NULL, 0) &&
		    errno == TUX_BPF_WORD + TUX_BPF_ABI;

	if (fd >= 0)
		close(fd);
	return have;
}

/* The mode that the environment brings. */
static void check_mode(void)
{
	const char *mode = getenv("TUX_MODE");

	if (mode && *mode)
		set_mode(mode);
}

/* UDP sockets without a key are used only if the user asks for them.  So without
 * AF_XDP and without tuxd, a program for which the user has asked nothing runs on
 * TCP, with a reason. */
static void check_io(void)
{
	const char *io = getenv("TUX_IO"), *why;

	if (io && *io) {
		set_io(io);
		return;
	}
	why = why_not_xdp();
	if (why && !have_tuxd())
		fprintf(stderr, "tuxrun: %s: connections stay on TCP; see "
			"tuxd(8) and '--io udp'\n", why);
	set("TUX_IO", "auto");
}

/* The path of this very program, without its last component. */
static void own_dir(char *buf, size_t cap)
{
	ssize_t n = readlink("/proc/self/exe", buf, cap - 1);
	char *slash;

	if (n < 0)
		die(EXIT_SELF, "/proc/self/exe: %s", strerror(errno));
	buf[n] = '\0';
	slash = strrchr(buf, '/');
	if (slash)
		*slash = '\0';
}

/* In a build tree this program is contrib/tuxrun, with the object beside
 * contrib; everywhere else the object is where it was installed. */
static void find_preload(char *path, size_t cap)
{
	char dir[PATH_MAX];
	const char *last;
	int n;

	own_dir(dir, sizeof dir);
	last = strrchr(dir, '/');
	if (last && !strcmp(last, "/contrib"))
		n = snprintf(path, cap, "%.*s/.libs/" PRELOAD,
			     (int)(last - dir), dir);
	else
		n = snprintf(path, cap, "%s/" PRELOAD, PKGLIBDIR);
	if (n < 0 || (size_t)n >= cap)
		die(EXIT_SELF, "the path of " PRELOAD " is too long");
	if (access(path, R_OK))
		die(EXIT_SELF, "%s: %s", path, strerror(errno));
	if (strpbrk(path, " :"))
		die(EXIT_SELF, "%s: LD_PRELOAD cannot name a path with a "
		    "space or a colon", path);
}

/* First in line, in front of what others have put there; once is enough. */
static void join_preload(const char *path)
{
	const char *old = getenv("LD_PRELOAD");
	char *all;

	if (!old || !*old) {
		set("LD_PRELOAD", path);
		return;
	}
	if (strstr(old, path))
		return;
	if (asprintf(&all, "%s:%s", path, old) < 0)
		die(EXIT_SELF, "out of memory");
	set("LD_PRELOAD", all);
	free(all);
}

static void parse(int argc, char **argv)
{
	int c;

	while ((c = getopt_long(argc, argv, "+i:m:vh", options, NULL)) != -1) {
		switch (c) {
		case 'i':
			set_interface(optarg);
			break;
		case 'm':
			set_mode(optarg);
			break;
		case OPT_IO:
			set_io(optarg);
			break;
		case OPT_ATTACH:
			set_attach(optarg);
			break;
		case OPT_ZERO_COPY:
			set_zero_copy(optarg);
			break;
		case OPT_CONGESTION:
			set_congestion(optarg);
			break;
		case OPT_PATH:
			set_path(optarg);
			break;
		case 'v':
			set("TUX_VERBOSE", "1");
			break;
		case 'h':
			printf("%s%s", usage, help);
			exit(0);
		case OPT_VERSION:
			puts("tuxrun (libtux) " PACKAGE_VERSION);
			exit(0);
		default:
			fputs(usage, stderr);
			exit(EXIT_SELF);
		}
	}
	if (optind == argc) {
		fputs(usage, stderr);
		exit(EXIT_SELF);
	}
}

int main(int argc, char **argv)
{
	char path[PATH_MAX];

	parse(argc, argv);
	check_mode();
	check_io();
	find_preload(path, sizeof path);
	join_preload(path);
	execvp(argv[optind], argv + optind);
	die(errno == ENOENT ? EXIT_NOENT : EXIT_NOEXEC, "%s: %s",
	    argv[optind], strerror(errno));
}
