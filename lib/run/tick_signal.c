/* SPDX-License-Identifier: BSD-2-Clause */
#include "run/tick_signal.h"

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

/* Not on an alternate stack: its frame has to stay on the routine's. Nothing is
 * masked, because the next routine would inherit the mask. */
int tux_tick_signal_take(void (*handler)(int, siginfo_t *, void *))
{
	struct sigaction a = {
		.sa_sigaction = handler,
		.sa_flags = SA_SIGINFO | SA_NODEFER | SA_RESTART,
	};
	int sig;

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
