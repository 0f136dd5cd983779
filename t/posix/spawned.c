/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * spawned - another program talks on a connection of this one
 *
 * The programs know nothing of Tux: they are Debian's cat, head and sh.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pair.h"

enum { CHUNK = 1000, CHUNKS = 100, SHELLS = 9 };

static int ended(pid_t pid)
{
	int status;

	CHECK(waitpid(pid, &status, 0) == pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 255;
}

static bool works(int from, int to)
{
	pair_poke(from);
	return pair_expect(to, 1);
}

/* Writes @n bytes at once.  While the peer moves back to TCP for its program, this
 * end takes none: POLLOUT says when. */
static bool put(int fd, const char *bytes, size_t n)
{
	struct pollfd f = { .fd = fd, .events = POLLOUT };
	ssize_t k;

	while ((k = write(fd, bytes, n)) < 0 && errno == EAGAIN)
		if (poll(&f, 1, PAIR_PATIENCE_MS) != 1)
			break;
	return k == (ssize_t)n;
}

/* ---- cat gets an end as its standard input and output -------------------- */

static char *const cat[] = { (char *)(uintptr_t)"cat", NULL };

static pid_t by_fork(int fd)
{
	pid_t pid = fork();

	if (pid == 0) {
		dup2(fd, 0);
		dup2(fd, 1);
		execvp(cat[0], cat);
		_exit(127);
	}
	return pid;
}

static pid_t by_vfork(int fd)
{
	pid_t pid = vfork();

	if (pid == 0) {
		dup2(fd, 0);
		dup2(0, 1);
		close(fd);
		execvp(cat[0], cat);
		_exit(127);
	}
	return pid;
}

static pid_t by_posix_spawn(int fd)
{
	posix_spawn_file_actions_t actions;
	pid_t pid = -1;

	posix_spawn_file_actions_init(&actions);
	CHECK(posix_spawn_file_actions_adddup2(&actions, fd, 0) == 0);
	CHECK(posix_spawn_file_actions_adddup2(&actions, fd, 1) == 0);
	CHECK(posix_spawnp(&pid, cat[0], &actions, NULL, cat, environ) == 0);
	posix_spawn_file_actions_destroy(&actions);
	return pid;
}

/* What is written on @fd comes back, CHUNK bytes at a time. */
static void comes_back(int fd)
{
	char out[CHUNK], in[CHUNK];

	for (int i = 0; i < CHUNKS; i++) {
		memset(out, 'a' + i % 26, CHUNK);
		CHECK(put(fd, out, CHUNK));
		for (ssize_t n = 0, k; n < CHUNK; n += k) {
			CHECK(pair_arrive(fd, 1));
			k = read(fd, in + n, (size_t)(CHUNK - n));
			if (k <= 0) {
				CHECK(k > 0);
				return;
			}
		}
		CHECK(!memcmp(in, out, CHUNK));
	}
}

static void talks_to(struct pair *p, pid_t (*start)(int fd))
{
	pid_t pid;

	fcntl(p->a, F_SETFL, 0);	/* cat does not know of non-blocking */
	pid = start(p->a);
	comes_back(p->b);
	CHECK(shutdown(p->b, SHUT_WR) == 0);
	CHECK(ended(pid) == 0);
}

static void forked(struct pair *p)
{
	talks_to(p, by_fork);
}

static void vforked(struct pair *p)
{
	talks_to(p, by_vfork);
}

static void posix_spawned(struct pair *p)
{
	talks_to(p, by_posix_spawn);
}

/* FD_CLOEXEC keeps nothing from a program that gets a copy. */
static void from_one_that_closes(struct pair *p)
{
	fcntl(p->a, F_SETFD, FD_CLOEXEC);
	talks_to(p, by_posix_spawn);
}

/* ---- a shell has an end as descriptor 9 ----------------------------------- */

static void give_to_shells(struct pair *p)
{
	fcntl(p->a, F_SETFL, 0);
	if (p->a == SHELLS)
		return;
	CHECK(p->b != SHELLS && dup2(p->a, SHELLS) == SHELLS);
	close(p->a);
	p->a = SHELLS;
}

static void popened(struct pair *p)
{
	char line[8] = "";
	FILE *f;

	give_to_shells(p);
	f = popen("head -c 5 <&9 >&9; echo done", "r");
	CHECK(f && put(p->b, "hello", 5));
	CHECK(pair_expect(p->b, 5));
	CHECK(fgets(line, sizeof(line), f) && !strcmp(line, "done\n"));
	CHECK(pclose(f) == 0);
	CHECK(works(p->a, p->b) && works(p->b, p->a));
}

static void *shell(void *arg)
{
	*(int *)arg = system("echo ready >&9; head -c 5 <&9 >&9");
	return NULL;
}

static void by_system(struct pair *p)
{
	pthread_t t;
	int status = -1;

	give_to_shells(p);
	pthread_create(&t, NULL, shell, &status);
	CHECK(pair_expect(p->b, 6));
	CHECK(write(p->b, "hello", 5) == 5);
	CHECK(pair_expect(p->b, 5));
	pthread_join(t, NULL);
	CHECK(status == 0);
	CHECK(works(p->a, p->b) && works(p->b, p->a));
}

/* The bytes that this program has not read are the shell's. */
static void unread(struct pair *p)
{
	give_to_shells(p);
	CHECK(write(p->b, "abcde", 5) == 5 && pair_arrive(p->a, 5));
	CHECK(pair_expect(p->a, 1));
	CHECK(system("head -c 4 <&9 >&9") == 0);
	CHECK(pair_expect(p->b, 4));
	CHECK(fcntl(p->a, F_GETFD) == 0);
	CHECK(works(p->a, p->b) && works(p->b, p->a));
}

/* The peer's direction has ended over Tux, and does not come back to TCP: the shell
 * does not get the connection, and this program goes on with it. */
static void ended_by_peer(struct pair *p)
{
	char byte;
	int status;

	give_to_shells(p);
	CHECK(write(p->b, "a", 1) == 1 && shutdown(p->b, SHUT_WR) == 0);
	CHECK(pair_arrive(p->a, 1));
	status = system("{ echo x >&9; } 2>/dev/null");
	CHECK(WIFEXITED(status));
	if (WEXITSTATUS(status))
		CHECK(pair_preloaded());
	else
		CHECK(pair_expect(p->b, 2));
	CHECK(fcntl(p->a, F_GETFD) == 0);
	CHECK(read(p->a, &byte, 1) == 1 && read(p->a, &byte, 1) == 0);
	CHECK(works(p->a, p->b));
}

/* ---- nobody is disturbed --------------------------------------------------- */

/* A program that closes all that it has not asked for.  Busy processors would return the
 * connection to TCP as well: calls.sh keeps them from counting. */
static void untouched(struct pair *p)
{
	fcntl(p->a, F_SETFD, FD_CLOEXEC);
	fcntl(p->b, F_SETFD, FD_CLOEXEC);
	pair_move(p);
	CHECK(system("true") == 0);
	CHECK(!pair_preloaded() || pair_moved(p));
}

int main(void)
{
	signal(SIGPIPE, SIG_IGN);
	pair_case("fork and exec", forked);
	pair_case("vfork and exec", vforked);
	pair_case("posix_spawn", posix_spawned);
	pair_case("posix_spawn, of one that exec closes", from_one_that_closes);
	pair_case("popen", popened);
	pair_case("system", by_system);
	pair_case("a shell, and bytes that were not read", unread);
	pair_case("a shell behind the end of the stream", ended_by_peer);
	pair_case("a shell that does not get it", untouched);
	return pair_done();
}
