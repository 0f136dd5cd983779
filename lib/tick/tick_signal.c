/* SPDX-License-Identifier: BSD-2-Clause */
#include "tick/tick_signal.h"

#include <errno.h>
#include <stdbool.h>

enum { FIRST = 5, LAST = 3 };	/* not those next to the ends, which others take */

static int signal_nr;		/* 0: not looked for; -ENOENT: none is free */

static bool is_free(int sig)
{
	struct sigaction a;

	return !sigaction(sig, NULL, &a) && !(a.sa_flags & SA_SIGINFO) &&
	       a.sa_handler == SIG_DFL;
}

/* Faults cannot wait.  All other signals do: a tick that came before the last
 * one's handler has ended would put its frame upon that one's, and on a slow
 * machine without end; a handler of the application's might sleep, and leave
 * this mask to the next routine. */
static void block_in_handler(sigset_t *set)
{
	static const int faults[] = {
		SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGSYS, SIGTRAP,
	};
	unsigned i;

	sigfillset(set);
	for (i = 0; i < sizeof(faults) / sizeof(*faults); i++)
		sigdelset(set, faults[i]);
}

/* Not on an alternate stack: its frame has to stay on the routine's. */
int tux_tick_signal_take(void (*handler)(int, siginfo_t *, void *))
{
	struct sigaction a = {
		.sa_sigaction = handler,
		.sa_flags = SA_SIGINFO | SA_RESTART,
	};
	int sig;

	block_in_handler(&a.sa_mask);
	signal_nr = -ENOENT;
	for (sig = SIGRTMIN + FIRST; sig <= SIGRTMAX - LAST; sig++)
		if (is_free(sig) && !sigaction(sig, &a, NULL)) {
			signal_nr = sig;
			break;
		}
	return signal_nr;
}

int tux_tick_signal(void)
{
	return signal_nr > 0 ? signal_nr : 0;
}

void tux_tick_signal_open(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, signal_nr);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}
