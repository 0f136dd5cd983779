/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a program sees of its signal handlers, and they of a signal.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/select.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pair.h"

static volatile unsigned long called;
static siginfo_t told;

static void tells(int sig, siginfo_t *info, void *uc)
{
	(void)uc;
	told = *info;
	called += sig == info->si_signo;
}

static void handle(int sig, void (*fn)(int), int flags)
{
	struct sigaction a = { .sa_handler = fn, .sa_flags = flags };

	sigaction(sig, &a, NULL);
}

static void counts(int sig)
{
	(void)sig;
	called++;
}

static void asked(void)
{
	struct sigaction a = { .sa_sigaction = tells,
			       .sa_flags = SA_SIGINFO | SA_RESTART }, b;

	sigaddset(&a.sa_mask, SIGUSR2);
	CHECK(sigaction(SIGUSR1, &a, NULL) == 0);
	CHECK(sigaction(SIGUSR1, NULL, &b) == 0 && b.sa_sigaction == tells);
	CHECK(b.sa_flags & SA_SIGINFO && b.sa_flags & SA_RESTART);
	CHECK(sigismember(&b.sa_mask, SIGUSR2) == 1);
	CHECK(signal(SIGUSR1, counts) == (void (*)(int))(void *)tells);
	CHECK(sigaction(SIGUSR1, NULL, &b) == 0 && b.sa_handler == counts);
	CHECK(!(b.sa_flags & SA_SIGINFO) && b.sa_flags & SA_RESTART);
	CHECK(signal(SIGUSR1, SIG_IGN) == counts);
	CHECK(signal(SIGUSR1, SIG_DFL) == SIG_IGN);
	CHECK(signal(SIGKILL, counts) == SIG_ERR && errno == EINVAL);
	CHECK(sigaction(SIGSTOP, &a, NULL) == -1 && errno == EINVAL);
	CHECK(sigaction(99, &a, NULL) == -1 && errno == EINVAL);
	CHECK(signal(SIGUSR1, SIG_DFL) == SIG_DFL);
}

static void once(void)
{
	struct sigaction b;

	handle(SIGUSR1, counts, SA_RESETHAND);
	called = 0;
	CHECK(sigaction(SIGUSR1, NULL, &b) == 0);
	CHECK(b.sa_handler == counts && b.sa_flags & (int)SA_RESETHAND);
	raise(SIGUSR1);
	CHECK(called == 1);
	CHECK(sigaction(SIGUSR1, NULL, &b) == 0 && b.sa_handler == SIG_DFL);
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

static void interrupting(void)
{
	struct sigaction b;

	siginterrupt(SIGUSR1, 1);
	signal(SIGUSR1, counts);
	CHECK(sigaction(SIGUSR1, NULL, &b) == 0 && !(b.sa_flags & SA_RESTART));
	siginterrupt(SIGUSR1, 0);
	CHECK(sigaction(SIGUSR1, NULL, &b) == 0 && b.sa_flags & SA_RESTART);
	CHECK(b.sa_handler == counts);
	CHECK(signal(SIGUSR1, SIG_DFL) == counts);
}

static void old_calls(void)
{
	sigset_t set;

	CHECK(sigset(SIGUSR1, counts) == SIG_DFL);
	called = 0;
	CHECK(sigset(SIGUSR1, SIG_HOLD) == counts);
	raise(SIGUSR1);
	CHECK(called == 0);
	CHECK(sigset(SIGUSR1, counts) == SIG_HOLD);
	CHECK(called == 1);
	sigprocmask(SIG_BLOCK, NULL, &set);
	CHECK(!sigismember(&set, SIGUSR1));
	CHECK(sysv_signal(SIGUSR1, counts) == counts);
	raise(SIGUSR1);
	CHECK(called == 2 && signal(SIGUSR1, SIG_DFL) == SIG_DFL);
}

#pragma GCC diagnostic pop

/* The handler runs before the call returns, with what the sender gave. */
static void told_before(struct pair *p)
{
	struct sigaction a = { .sa_sigaction = tells, .sa_flags = SA_SIGINFO };
	struct pollfd f = { p->a, POLLIN, 0 };
	pid_t parent = getpid(), pid;
	int status;

	sigaction(SIGUSR1, &a, NULL);
	called = 0;
	pid = fork();
	if (pid == 0) {
		while (getppid() == parent) {
			poll(NULL, 0, 20);
			sigqueue(parent, SIGUSR1,
				 (union sigval){ .sival_int = 4711 });
		}
		_exit(0);
	}
	CHECK(poll(&f, 1, PAIR_PATIENCE_MS) == -1 && errno == EINTR);
	CHECK(called >= 1 && told.si_value.sival_int == 4711);
	CHECK(told.si_code == SI_QUEUE && told.si_pid == pid);
	handle(SIGUSR1, SIG_IGN, 0);
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
}

/* A signal that only pselect() lets in. */
static void let_in(struct pair *p)
{
	sigset_t block, none;
	fd_set in;

	handle(SIGUSR1, counts, SA_RESTART);
	sigemptyset(&none);
	sigemptyset(&block);
	sigaddset(&block, SIGUSR1);
	sigprocmask(SIG_BLOCK, &block, NULL);
	called = 0;
	raise(SIGUSR1);
	FD_ZERO(&in);
	FD_SET(p->a, &in);
	CHECK(pselect(p->a + 1, &in, NULL, NULL, NULL, &none) == -1);
	CHECK(errno == EINTR && called == 1);
	sigprocmask(SIG_BLOCK, NULL, &none);
	CHECK(sigismember(&none, SIGUSR1) == 1);
	sigprocmask(SIG_UNBLOCK, &block, NULL);
	CHECK(called == 1);
}

int main(void)
{
	pair_once("handlers are what the program set", asked);
	pair_once("SA_RESETHAND", once);
	pair_once("siginterrupt", interrupting);
	pair_once("sigset and sysv_signal", old_calls);
	pair_case("siginfo", told_before);
	pair_case("pselect lets a signal in", let_in);
	return pair_done();
}
