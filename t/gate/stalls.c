/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * stalls - how long the machine stood still while a test ran
 *
 * Runs beside each test of t/live and t/posix, and sleeps for 10 ms again and
 * again.  At SIGTERM it prints one line: how often it woke up more than 50 ms
 * late; how much of the time a thread that could run waited for a processor
 * (/proc/pressure/cpu), and how long the hypervisor ran something else
 * (/proc/stat).  A test that failed while the machine stood still is to be read
 * with that.
 */
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum {
	NAP_MS = 10,
	LATE_MS = 50,
};

struct machine {
	double at_s;
	double waited_s;	/* below 0: the kernel does not say */
	double stolen_s;
};

static volatile sig_atomic_t over;

static void end(int sig)
{
	(void)sig;
	over = 1;
}

static double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* The number that @format finds in the first line of @path; below 0: none. */
static double number_in(const char *path, const char *format)
{
	FILE *f = fopen(path, "re");
	unsigned long long n;
	bool found;

	if (!f)
		return -1;
	found = fscanf(f, format, &n) == 1;
	fclose(f);
	return found ? (double)n : -1;
}

static struct machine look(void)
{
	return (struct machine){
		.at_s = now_s(),
		.waited_s = number_in("/proc/pressure/cpu",
			"some avg10=%*f avg60=%*f avg300=%*f total=%llu") / 1e6,
		.stolen_s = number_in("/proc/stat",
			"cpu %*u %*u %*u %*u %*u %*u %*u %llu") /
			(double)sysconf(_SC_CLK_TCK),
	};
}

int main(void)
{
	struct sigaction sa = { .sa_handler = end };
	struct machine first = look(), last;
	double before = first.at_s, longest = 0, all = 0;
	unsigned times = 0;

	sigaction(SIGTERM, &sa, NULL);
	while (!over) {
		struct timespec nap = { .tv_nsec = NAP_MS * 1000000L };
		double late;

		nanosleep(&nap, NULL);
		late = (now_s() - before) * 1e3 - NAP_MS;
		before += (late + NAP_MS) / 1e3;
		if (late <= LATE_MS)
			continue;
		times++;
		all += late;
		if (late > longest)
			longest = late;
	}
	last = look();
	printf("# the machine stood still %u times", times);
	if (times)
		printf(", for %.0f ms in all, %.0f ms at once", all, longest);
	if (first.waited_s >= 0)
		printf("; threads waited for a processor for %.0f %% of the time",
		       100 * (last.waited_s - first.waited_s) /
		       (last.at_s - first.at_s + 1e-9));
	printf("; %.0f ms were stolen\n",
	       1e3 * (last.stolen_s - first.stolen_s));
	return 0;
}
