/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * process_cost - what one connection adds to the process that opens it
 *
 *	process_cost ADDRESS PORT [ROUNDS]
 *
 * Connects to a server that sends back what it reads, lets it do so ROUNDS times,
 * and then is idle until the stack has given back what it gives back.  Prints
 *	SOCKETS DESCRIPTORS THREADS KB
 * of the stack: datagram sockets and all descriptors without the program's own,
 * threads, and what the private memory has grown by since before connect().
 */
#include <arpa/inet.h>
#include <dirent.h>
#include <err.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { LEN = 200, IDLE_S = 4 };

struct has {
	int sockets, fds, threads;
	long kb;
};

static bool is_datagram(int fd)
{
	int type = 0;
	socklen_t len = sizeof(type);

	return !getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &len) &&
	       type == SOCK_DGRAM;
}

/* Entries of a directory of numbers; *@sockets: how many of them are datagram
 * sockets. */
static int numbers(const char *path, int *sockets)
{
	DIR *d = opendir(path);
	struct dirent *e;
	int n = 0;

	if (!d)
		err(1, "%s", path);
	while ((e = readdir(d)) != NULL) {
		if (e->d_name[0] == '.')
			continue;
		n++;
		if (sockets)
			*sockets += is_datagram(atoi(e->d_name));
	}
	closedir(d);
	return n;
}

/* The number behind @name in @text. */
static long number_of(const char *text, const char *name)
{
	const char *at = strstr(text, name);

	if (!at)
		errx(77, "smaps_rollup has no %s", name + 1);
	return atol(at + strlen(name));
}

/* What this process alone has written, of /proc/self/smaps_rollup.  Its dirty pages
 * would be more: those of an object that was linked a moment ago are dirty until
 * the kernel has written them to the disk. */
static long private_kb(void)
{
	static char text[8192];
	int fd = open("/proc/self/smaps_rollup", O_RDONLY);
	ssize_t n;

	n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	if (n <= 0)
		err(77, "smaps_rollup");
	text[n] = '\0';
	close(fd);
	return number_of(text, "\nPss_Anon:") + number_of(text, "\nPss_Shmem:");
}

static struct has look(void)
{
	struct has h = { 0 };

	h.fds = numbers("/proc/self/fd", &h.sockets);
	h.threads = numbers("/proc/self/task", NULL);
	h.kb = private_kb();
	return h;
}

static void talk(int fd, int rounds)
{
	char p[LEN] = { 0 };

	while (rounds--) {
		if (write(fd, p, LEN) != LEN)
			err(1, "write");
		for (ssize_t n = 0, k; n < LEN; n += k) {
			k = read(fd, p + n, (size_t)(LEN - n));
			if (k <= 0)
				err(1, "read");
		}
	}
}

int main(int argc, char **argv)
{
	struct sockaddr_in a = { .sin_family = AF_INET };
	struct has before, after;
	int fd;

	if (argc < 3 || inet_pton(AF_INET, argv[1], &a.sin_addr) != 1)
		errx(1, "usage: process_cost ADDRESS PORT [ROUNDS]");
	a.sin_port = htons((uint16_t)atoi(argv[2]));
	fd = socket(AF_INET, SOCK_STREAM, 0);
	/* The first look has what looking itself takes. */
	look();
	before = look();
	if (connect(fd, (void *)&a, sizeof(a)))
		err(1, "connect");
	if (argc > 3) {
		talk(fd, atoi(argv[3]));
		sleep(IDLE_S);
	}
	after = look();
	printf("%d %d %d %ld\n", after.sockets - before.sockets,
	       after.fds - before.fds, after.threads - before.threads,
	       after.kb - before.kb);
	return 0;
}
