/* SPDX-License-Identifier: BSD-2-Clause */
#include "parity_world.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "client.h"

enum {
	WORDS = 32,
	HEAR_MS = 60000,	/* longer than a player waits for anything */
};

/* The words of the world, then this program as a player on @fd. */
static _Noreturn void become(char **words, int fd)
{
	static char self[4096];
	char *argv[WORDS], number[16];
	int n = 0;
	ssize_t len = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (len < 0)
		_exit(126);
	while (words && words[n] && n < WORDS - 4) {
		argv[n] = words[n];
		n++;
	}
	snprintf(number, sizeof(number), "%d", fd);
	argv[n++] = self;
	argv[n++] = (char *)"--player";
	argv[n++] = number;
	argv[n] = NULL;
	execvp(argv[0], argv);
	_exit(127);
}

static void spawn(struct parity_world *w, unsigned proc)
{
	pid_t parent = getpid();
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		client_fail("socketpair: %s", strerror(errno));
	w->pid[proc] = fork();
	if (w->pid[proc] < 0)
		client_fail("fork: %s", strerror(errno));
	if (w->pid[proc] == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != parent)
			_exit(1);
		fcntl(pair[1], F_SETFD, 0);
		become(w->words, pair[1]);
	}
	close(pair[1]);
	w->fd[proc] = pair[0];
}

void parity_world_start(struct parity_world *w)
{
	if (w->up)
		return;
	for (unsigned p = 0; p < PARITY_PROCS; p++)
		spawn(w, p);
	w->up = true;
}

void parity_world_stop(struct parity_world *w)
{
	if (!w->up)
		return;
	for (unsigned p = 0; p < PARITY_PROCS; p++) {
		close(w->fd[p]);
		kill(w->pid[p], SIGKILL);
		waitpid(w->pid[p], NULL, 0);
	}
	w->up = false;
}

bool parity_world_tell(struct parity_world *w, unsigned proc,
		       const struct parity_order *o)
{
	return send(w->fd[proc], o, sizeof(*o), MSG_NOSIGNAL) == sizeof(*o);
}

bool parity_world_hear(struct parity_world *w, unsigned proc,
		       struct parity_record *r)
{
	struct pollfd p = { .fd = w->fd[proc], .events = POLLIN };

	return poll(&p, 1, HEAR_MS) == 1 &&
	       recv(p.fd, r, sizeof(*r), 0) == sizeof(*r);
}
