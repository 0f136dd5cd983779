/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cluster_writer - a writer to a Redis Cluster that remembers what was acknowledged
 *
 *	cluster_writer TAG REPLICAS ADDRESS:PORT...
 *
 * Writes numbers, a key for each, all in the slot of TAG, one at a time, and
 * follows the cluster to the node that has the slot.  A write counts once it has
 * been acknowledged and, if REPLICAS is not 0, WAIT says that so many replicas
 * have it.  A write that fails is not tried again: the next number is.  At
 * SIGTERM it reads all that counted back, and prints
 *
 *	acknowledged N lost K failed F longest MS
 *
 * where MS is the longest time between two writes that counted.  "so-far N"
 * comes every 100 ms.
 */
#include <err.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/time.h>

#include "../../posix/client.h"

enum {
	NODES = 8, WRITES = 1 << 20, LINE = 512, HOPS = 8, PATIENCE_MS = 500,
	LIMIT = 60,
};

static struct {
	const char *name;	/* ADDRESS:PORT */
	int fd;			/* or -1 */
} node[NODES];
static int nodes, here;		/* the node that is asked */
static const char *tag;
static bool counted[WRITES];
static volatile sig_atomic_t stopped;

static void on_term(int sig)
{
	stopped = sig;
}

static void hang_up(void)
{
	if (node[here].fd >= 0)
		close(node[here].fd);
	node[here].fd = -1;
}

/* Is there a connection to the node? */
static bool dial(void)
{
	struct timeval t = { .tv_usec = PATIENCE_MS * 1000 };
	struct sockaddr_storage a;
	const char *port = strrchr(node[here].name, ':');
	char host[LINE];
	socklen_t len;
	int one = 1, fd;

	if (node[here].fd >= 0)
		return true;
	snprintf(host, sizeof(host), "%.*s", (int)(port - node[here].name),
		 node[here].name);
	len = client_name(&a, host, (uint16_t)atoi(port + 1));
	fd = socket(a.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0 ||
	    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one)) ||
	    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &t, sizeof(t)) ||
	    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &t, sizeof(t)))
		err(1, "socket");
	node[here].fd = fd;
	if (connect(fd, (struct sockaddr *)&a, len) == 0)
		return true;
	hang_up();
	return false;
}

/* Reads what ends with a newline; the longest here is a redirection. */
static bool get_line(char *line)
{
	size_t n = 0;

	while (n < LINE - 1) {
		ssize_t k = read(node[here].fd, line + n, 1);

		if (k < 0 && errno == EINTR)
			continue;
		if (k <= 0)
			return false;
		if (line[n++] == '\n') {
			line[n - 1] = 0;
			return true;
		}
	}
	return false;
}

/* One command, and its answer in @line, at the node that is asked. */
static bool ask(const char *command, char *line)
{
	size_t n = strlen(command);

	if (dial() && send(node[here].fd, command, n, MSG_NOSIGNAL) ==
	    (ssize_t)n && get_line(line)) {
		if (line[0] != '$' || line[1] == '-' || get_line(line))
			return true;
	}
	hang_up();
	return false;
}

/* Goes to the node that a redirection names, or to the next. */
static void turn_to(const char *line)
{
	const char *name = line ? strrchr(line, ' ') : NULL;

	here = (here + 1) % nodes;
	for (int i = 0; name && i < nodes; i++)
		if (!strncmp(node[i].name, name + 1, strlen(node[i].name)))
			here = i;
}

/* The same, at the node that has the slot.  A command whose answer is missing
 * may have been done, so it is not sent again unless @again. */
static bool ask_cluster(const char *command, char *line, bool again)
{
	for (int i = 0; i < HOPS; i++) {
		if (!ask(command, line)) {
			turn_to(NULL);
			if (!again)
				return false;
		} else if (!strncmp(line, "-MOVED", 6)) {
			turn_to(line);
		} else {
			return true;
		}
	}
	return false;
}

static bool write_one(int i, int replicas)
{
	char command[LINE], line[LINE];

	snprintf(command, sizeof(command), "SET {%s}%d %d\r\n", tag, i, i);
	if (!ask_cluster(command, line, false) || line[0] != '+')
		return false;
	if (!replicas)
		return true;
	snprintf(command, sizeof(command), "WAIT %d %d\r\n", replicas,
		 PATIENCE_MS / 2);
	return ask(command, line) && line[0] == ':' &&
	       atoi(line + 1) >= replicas;
}

static bool is_there(int i)
{
	char command[LINE], line[LINE];

	snprintf(command, sizeof(command), "GET {%s}%d\r\n", tag, i);
	return ask_cluster(command, line, true) && atoi(line) == i &&
	       line[0] != '$' && line[0] != '-';
}

int main(int argc, char **argv)
{
	uint64_t last, said, longest = 0;
	int n = 0, lost = 0, failed = 0, i, replicas;

	if (argc < 4 || argc - 3 > NODES)
		errx(2, "usage: see the source");
	tag = argv[1];
	replicas = atoi(argv[2]);
	for (; nodes < argc - 3; nodes++) {
		node[nodes].name = argv[nodes + 3];
		node[nodes].fd = -1;
	}
	signal(SIGTERM, on_term);
	alarm(LIMIT);
	last = said = client_now();
	for (i = 1; i < WRITES && !stopped; i++) {
		uint64_t now;

		counted[i] = write_one(i, replicas);
		now = client_now();
		if (counted[i]) {
			n++;
			if (now - last > longest)
				longest = now - last;
			last = now;
		} else {
			failed++;
			usleep(10000);
		}
		if (now - said >= 100) {
			printf("so-far %d\n", n);
			fflush(stdout);
			said = now;
		}
	}
	while (--i > 0)
		if (counted[i] && !is_there(i)) {
			fprintf(stderr, "lost %d\n", i);
			lost++;
		}
	printf("acknowledged %d lost %d failed %d longest %llu\n", n, lost,
	       failed, (unsigned long long)longest);
	return lost != 0;
}
