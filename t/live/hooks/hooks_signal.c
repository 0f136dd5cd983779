/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Masks, handlers, and calls that wait with a mask or for a signal.
 */
#include "hooks.h"

#include <string.h>
#include <sys/eventfd.h>

/* ---- the mask ---- */
/* The last two of these are libc's own. */
void try_pthread_sigmask(void)
{
	sigset_t some = hooks_set_of(SIGUSR1, SIGRTMIN + 5), all, old;

	sigfillset(&all);
	sigemptyset(&old);
	TRY(pthread_sigmask(SIG_BLOCK, &some, &old));
	hooks_say_set("old", &old);
	hooks_say_mask();
	TRY(pthread_sigmask(SIG_UNBLOCK, &some, NULL));
	hooks_say_mask();
	TRY(pthread_sigmask(SIG_SETMASK, &all, &old));
	hooks_say_signals();
	TRY(pthread_sigmask(99, &some, &old));
	TRY(pthread_sigmask(99, NULL, NULL));
	memset(&all, 0xff, sizeof(all));
	TRY(pthread_sigmask(SIG_SETMASK, &all, NULL));
	hooks_say_signals();
}

void try_sigprocmask(void)
{
	sigset_t some = hooks_set_of(SIGTERM, SIGRTMIN + 5), old;

	sigemptyset(&old);
	TRY(sigprocmask(SIG_BLOCK, &some, &old));
	hooks_say_set("old", &old);
	TRY(sigprocmask(SIG_SETMASK, &some, &old));
	hooks_say_set("old", &old);
	TRY(sigprocmask(99, &some, NULL));
	TRY(sigprocmask(SIG_BLOCK, NULL, NULL));
	TRY(sigprocmask(SIG_UNBLOCK, &some, NULL));
	hooks_say_signals();
}

/* ---- handlers ---- */
static const char *name_of(sighandler_t fn)
{
	return fn == SIG_ERR ? "error" : fn == SIG_DFL ? "default" :
	       fn == SIG_IGN ? "ignored" : fn == hooks_on_signal ? "ours" : "other";
}

static void on_info(int sig, siginfo_t *info, void *context)
{
	(void)context;
	hooks_caught = sig + info->si_value.sival_int;
}

void try_sigaction(void)
{
	struct sigaction a = { .sa_handler = hooks_on_signal }, old;
	int sig;

	a.sa_flags = SA_RESTART | SA_NODEFER;
	sigaddset(&a.sa_mask, SIGTERM);
	for (sig = -1; sig <= HOOKS_SIGNALS; sig++) {
		memset(&old, 0, sizeof(old));
		printf("signal %d, ", sig);
		TRY(sigaction(sig, &a, &old));
		printf("%s\n", name_of(old.sa_handler));
		printf("signal %d, ", sig);
		TRY(sigaction(sig, NULL, &old));
		printf("%s, flags %x\n", name_of(old.sa_handler),
		       (unsigned)old.sa_flags & ~0x04000000u);
		hooks_say_set("its mask", &old.sa_mask);
	}
	for (sig = SIGRTMIN; sig <= SIGRTMAX; sig++) {
		hooks_caught = 0;
		raise(sig);
		printf("caught %d\n", (int)hooks_caught);
	}
	a.sa_flags = SA_SIGINFO;
	a.sa_sigaction = on_info;
	TRY(sigaction(SIGRTMIN + 5, &a, NULL));
	TRY(sigqueue(getpid(), SIGRTMIN + 5, (union sigval){ 1000 }));
	printf("caught %d\n", (int)hooks_caught);
}

void try_signal(void)
{
	struct sigaction now;
	int sig;

	for (sig = -1; sig <= HOOKS_SIGNALS; sig++) {
		errno = 0;
		printf("signal %d was %s", sig, name_of(signal(sig, hooks_on_signal)));
		printf(", errno %d\n", errno);
		errno = 0;
		printf("signal %d was %s", sig, name_of(signal(sig, SIG_IGN)));
		printf(", errno %d\n", errno);
		raise(sig == SIGSTOP || sig == SIGKILL ? 0 : sig);
	}
	signal(SIGUSR1, hooks_on_signal);
	sigaction(SIGUSR1, NULL, &now);
	printf("flags %x\n", (unsigned)now.sa_flags & ~0x04000000u);
	TRY(raise(SIGUSR1));
	printf("caught %d\n", (int)hooks_caught);
}

/* ---- calls that wait ---- */
/* A signal that is blocked, is pending, and is let through by this mask. */
static sigset_t let_through(void)
{
	sigset_t one = hooks_set_of(SIGUSR1, 0), but;

	hooks_catch(SIGUSR1);
	sigprocmask(SIG_BLOCK, &one, NULL);
	raise(SIGUSR1);
	sigfillset(&but);
	sigdelset(&but, SIGUSR1);
	return but;
}

static void after_wait(void)
{
	printf("caught %d\n", (int)hooks_caught);
	hooks_caught = 0;
	hooks_say_mask();
}

static void in_ppoll(void)
{
	ppoll(NULL, 0, NULL, NULL);
}

void try_ppoll(void)
{
	int fd = eventfd(1, 0);
	struct pollfd p = { .fd = fd, .events = POLLIN };
	sigset_t but = let_through();

	TRY(ppoll(&p, 1, &hooks_long_time, NULL));
	printf("revents %x\n", p.revents);
	TRY(ppoll(&p, 1, NULL, &but));
	after_wait();
	TRY(ppoll(NULL, 0, NULL, (raise(SIGUSR1), &but)));
	after_wait();
	TRY(ppoll(NULL, 0, &hooks_no_time, NULL));
	TRY(ppoll(NULL, 0, &hooks_a_while, &but));
	TRY(ppoll(NULL, 0, &hooks_bad_time, NULL));
	hooks_cancel_in("ppoll", in_ppoll);
}

static void in_pselect(void)
{
	pselect(0, NULL, NULL, NULL, NULL, NULL);
}

void try_pselect(void)
{
	int fd = eventfd(1, 0);
	sigset_t but = let_through();
	fd_set r;

	FD_ZERO(&r);
	FD_SET(fd, &r);
	TRY(pselect(fd + 1, &r, NULL, NULL, &hooks_long_time, NULL));
	printf("readable %d\n", FD_ISSET(fd, &r) != 0);
	TRY(pselect(0, NULL, NULL, NULL, NULL, &but));
	after_wait();
	TRY(pselect(0, NULL, NULL, NULL, &hooks_no_time, NULL));
	TRY(pselect(0, NULL, NULL, NULL, &hooks_a_while, &but));
	TRY(pselect(0, NULL, NULL, NULL, &hooks_bad_time, NULL));
	TRY(pselect(-1, NULL, NULL, NULL, &hooks_no_time, NULL));
	hooks_cancel_in("pselect", in_pselect);
}

static int ep;

static void in_epoll_pwait(void)
{
	struct epoll_event e;

	epoll_pwait(ep, &e, 1, -1, NULL);
}

void try_epoll_pwait(void)
{
	struct epoll_event e = { .events = EPOLLIN, .data.u32 = 7 };
	int fd = eventfd(1, 0);
	sigset_t but = let_through();

	ep = epoll_create1(0);
	TRY(epoll_pwait(ep, &e, 1, 0, NULL));
	TRY(epoll_pwait(ep, &e, 1, -1, &but));
	after_wait();
	TRY(epoll_pwait(ep, &e, 0, 0, NULL));
	TRY(epoll_pwait(-1, &e, 1, 0, NULL));
	TRY(epoll_pwait(fd, &e, 1, 0, &but));
	hooks_cancel_in("epoll_pwait", in_epoll_pwait);
	e = (struct epoll_event){ .events = EPOLLIN, .data.u32 = 7 };
	epoll_ctl(ep, EPOLL_CTL_ADD, fd, &e);
	TRY(epoll_pwait(ep, &e, 1, -1, NULL));
	printf("events %x, data %u\n", e.events, e.data.u32);
}

static void in_sigsuspend(void)
{
	sigset_t none;

	sigemptyset(&none);
	sigsuspend(&none);
}

void try_sigsuspend(void)
{
	sigset_t but = let_through();

	TRY(sigsuspend(&but));
	after_wait();
	hooks_catch(SIGRTMIN + 5);
	raise(SIGUSR1);
	TRY(sigsuspend(&but));
	after_wait();
	hooks_cancel_in("sigsuspend", in_sigsuspend);
}

/* ---- calls that wait for signals ---- */
static sigset_t expect(void)
{
	sigset_t set = hooks_set_of(SIGUSR2, SIGRTMIN + 5);

	pthread_sigmask(SIG_BLOCK, &set, NULL);
	return set;
}

static void say_info(const siginfo_t *i)
{
	printf("signal %d, code %d, value %d, %s\n", i->si_signo, i->si_code,
	       i->si_value.sival_int,
	       i->si_pid == getpid() ? "own" : "of another");
}

static void in_sigwait(void)
{
	sigset_t set = hooks_set_of(SIGUSR2, 0);
	int sig;

	sigwait(&set, &sig);
}

void try_sigwait(void)
{
	sigset_t set = expect();
	int sig = 0;

	raise(SIGUSR2);
	TRY(sigwait(&set, &sig));
	printf("signal %d\n", sig);
	raise(SIGRTMIN + 5);
	TRY(sigwait(&set, &sig));
	printf("signal %d\n", sig);
	hooks_cancel_in("sigwait", in_sigwait);
}

static void in_sigwaitinfo(void)
{
	sigset_t set = hooks_set_of(SIGUSR2, 0);

	sigwaitinfo(&set, NULL);
}

void try_sigwaitinfo(void)
{
	sigset_t set = expect();
	siginfo_t info;

	sigqueue(getpid(), SIGRTMIN + 5, (union sigval){ 77 });
	TRY(sigwaitinfo(&set, &info));
	say_info(&info);
	raise(SIGUSR2);
	TRY(sigwaitinfo(&set, NULL));
	TRY_INTERRUPTED(sigwaitinfo(&set, &info));
	hooks_cancel_in("sigwaitinfo", in_sigwaitinfo);
}

static void in_sigtimedwait(void)
{
	sigset_t set = hooks_set_of(SIGUSR2, 0);

	sigtimedwait(&set, NULL, NULL);
}

void try_sigtimedwait(void)
{
	sigset_t set = expect();
	siginfo_t info;

	TRY(sigtimedwait(&set, &info, &hooks_no_time));
	TRY(sigtimedwait(&set, &info, &hooks_a_while));
	TRY(sigtimedwait(&set, &info, &hooks_bad_time));
	sigqueue(getpid(), SIGRTMIN + 5, (union sigval){ 78 });
	TRY(sigtimedwait(&set, &info, &hooks_long_time));
	say_info(&info);
	hooks_cancel_in("sigtimedwait", in_sigtimedwait);
}
