/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * shared - a connection that has begun to talk when its process forks
 *
 * The parent talks on; then the child writes on the same connection, and then
 * the parent again.  The peer must get all of it, in order.
 */
#include <err.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BEFORE = 3, AFTER = 60, LEN = 4 };

static void get(int fd, const char *want)
{
	char buf[LEN];
	size_t n = 0;

	while (n < LEN) {
		ssize_t k = read(fd, buf + n, LEN - n);

		if (k <= 0)
			errx(1, "no '%s'", want);
		n += (size_t)k;
	}
	if (memcmp(buf, want, LEN) != 0)
		errx(1, "'%.4s' instead of '%s'", buf, want);
}

static void put(int fd, const char *word)
{
	if (write(fd, word, LEN) != LEN)
		err(1, "write '%s'", word);
}

static void ask(int fd, int n)
{
	while (n--) {
		put(fd, "asks");
		get(fd, "says");
	}
}

static void answer(int fd, int n)
{
	while (n--) {
		get(fd, "asks");
		put(fd, "says");
	}
}

static void client(const struct sockaddr_in *sa)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	alarm(60);
	if (fd < 0 || connect(fd, (const struct sockaddr *)sa, sizeof(*sa)))
		err(1, "connect");
	ask(fd, BEFORE + AFTER);
	get(fd, "chld");
	get(fd, "prnt");
	_exit(0);
}

/* The child writes when it is told to, and ends. */
static void child(int fd, int go)
{
	char c;

	if (read(go, &c, 1) != 1)
		_exit(1);
	put(fd, "chld");
	_exit(0);
}

int main(void)
{
	struct sockaddr_in sa = { .sin_family = AF_INET,
				  .sin_addr = { htonl(INADDR_LOOPBACK) } };
	int l = socket(AF_INET, SOCK_STREAM, 0), fd, go[2], status, bad;
	socklen_t len = sizeof(sa);
	pid_t writer;

	alarm(60);
	if (bind(l, (struct sockaddr *)&sa, len) || listen(l, 1) ||
	    getsockname(l, (struct sockaddr *)&sa, &len) || pipe(go))
		err(1, "listen");
	if (!fork())
		client(&sa);
	fd = accept(l, NULL, NULL);
	answer(fd, BEFORE);
	writer = fork();
	if (!writer)
		child(fd, go[0]);
	answer(fd, AFTER);
	usleep(200000);
	if (write(go[1], "", 1) != 1)
		err(1, "write");
	/* Its bytes come first. */
	bad = waitpid(writer, &status, 0) != writer || status;
	put(fd, "prnt");
	while (wait(&status) > 0)
		bad |= status;
	puts(bad ? "not ok" : "ok");
	return bad ? 1 : 0;
}
