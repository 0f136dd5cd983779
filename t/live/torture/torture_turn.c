/* SPDX-License-Identifier: BSD-2-Clause */
#include "torture_turn.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/histogram.h"
#include "run/sched.h"
#include "sys/clock.h"
#include "sys/sys.h"
#include "torture.h"

enum {
	SLICES = 10,		/* that a turn may be late by itself */
	NOISE_MS = 20,		/* and what no counter of ours explains */
	LOOK_MS = 10,		/* how old what we know of waiting may be */
	SOURCES = 64,
};

static struct histogram interval;
static tux_time slice, last, looked_at, excuse;
static int source[SOURCES], sources;
static uint64_t waited[SOURCES];
static atomic_ullong turns;
static _Atomic tux_time stopped;
static bool late_is_wrong;
static unsigned late;
static tux_time latest;

/* The second number of a thread's schedstat: how long it waited to run. */
static uint64_t waiting_of(int fd)
{
	uint64_t v = 0;
	char text[96], *p;
	long n = TUX_SYS(SYS_pread64, fd, (long)text, sizeof(text) - 1, 0, 0, 0);

	if (n <= 0)
		return 0;
	text[n] = 0;
	for (p = text; *p && *p != ' '; p++)
		;
	while (*p && *++p >= '0' && *p <= '9')
		v = v * 10 + (uint64_t)(*p - '0');
	return v;
}

/* Of all threads that we may wait for: ours, who ends slices, who holds a lock. */
static void add_source(const char *task)
{
	char path[300], name[32] = "";
	int fd;

	snprintf(path, sizeof(path), "/proc/self/task/%s/comm", task);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0 && read(fd, name, sizeof(name) - 1) < 0)
		name[0] = 0;
	close(fd);
	if (!strcmp(name, "tux-donor\n") || sources == SOURCES)
		return;
	snprintf(path, sizeof(path), "/proc/self/task/%s/schedstat", task);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	source[sources++] = fd;
}

static void find_sources(void)
{
	DIR *d = opendir("/proc/self/task");
	struct dirent *e;

	while (d && (e = readdir(d)))
		if (e->d_name[0] != '.')
			add_source(e->d_name);
	if (d)
		closedir(d);
}

/* Since the last look.  Of a thread that has ended nothing is known. */
static tux_time look(void)
{
	uint64_t sum = 0, now;
	int i;

	for (i = 0; i < sources; i++) {
		now = waiting_of(source[i]);
		if (now > waited[i]) {
			sum += now - waited[i];
			waited[i] = now;
		}
	}
	return sum;
}

void torture_turn_start(tux_time len, bool in_time)
{
	slice = len;
	late_is_wrong = in_time;
	find_sources();
	look();
	looked_at = last = tux_clock_read();
}

static void judge(tux_time took, tux_time now)
{
	if (now - looked_at < TUX_MSEC(LOOK_MS) && took < TUX_MSEC(LOOK_MS))
		return;
	excuse = look() + atomic_exchange(&stopped, 0);
	looked_at = now;
	if (took <= SLICES * slice + TUX_MSEC(NOISE_MS) + excuse)
		return;
	late++;
	latest = took > latest ? took : latest;
	must(!late_is_wrong);
}

/* Nothing here may wait for what a suspended routine holds. */
void torture_turn(void)
{
	tux_time now = tux_clock_read();

	histogram_add(&interval, now - last);
	judge(now - last, now);
	atomic_fetch_add(&turns, 1);
	last = tux_clock_read();
}

void torture_turn_stopped(tux_time ns)
{
	if (tux_sched_inside())
		atomic_fetch_add(&stopped, ns);
}

uint64_t torture_turns(void)
{
	return atomic_load(&turns);
}

void torture_turn_report(void)
{
	printf("turns: %llu, apart p50 %.1f us, p99 %.1f us, p99.9 %.1f us, "
	       "most %.1f us\n", (unsigned long long)torture_turns(),
	       (double)histogram_at(&interval, 500) / 1e3,
	       (double)histogram_at(&interval, 990) / 1e3,
	       (double)histogram_at(&interval, 999) / 1e3,
	       (double)interval.max / 1e3);
	printf("late turns: %u, the latest after %.1f ms\n", late,
	       (double)latest / 1e6);
}
