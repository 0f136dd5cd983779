/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A database of SQLite, served in callbacks.  Ends on SIGTERM.
 *
 *   sqlite_server ADDRESS PORT FILE
 *
 * A message is SQL; the answer has a line for each row, or "error: " and why.
 * What has changed is on disk before the answer leaves.  SQLite calls pread(),
 * pwrite() and fsync() by their names; libtux-blocking, which this program links,
 * has the network and the callbacks of other connections go on meanwhile.
 * message_client asks:
 *
 *   message_client ADDRESS PORT 'create table t(v)' 'insert into t values(1)' \
 *	'select * from t'
 *
 * Packets go over AF_XDP, or over UDP sockets if tuxd(8) is there.  If the
 * environment variable TUX_UDP names an interface, they go over UDP sockets on
 * that interface, which need nothing: TUX_UDP=lo for a try on one host.
 */
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tux.h>

enum {
	BUSY_MS = 60000,		/* that a writer waits for another */
	STACK_LEN = 8 << 20,		/* SQLite's parser, and LIKE, recurse */
};

static struct tux *stack;
static const char *file;

/* Each connection has a handle of its own, which its callbacks use one at a
 * time.  @pragma is for it. */
static sqlite3 *db_open(const char *pragma)
{
	sqlite3 *db;

	if (!sqlite3_open(file, &db) &&
	    !sqlite3_busy_timeout(db, BUSY_MS) &&
	    !sqlite3_exec(db, pragma, NULL, NULL, NULL))
		return db;
	fprintf(stderr, "sqlite_server: %s: %s\n", file, sqlite3_errmsg(db));
	sqlite3_close(db);
	return NULL;
}

static void on_open(struct tux_connection *c, void *arg)
{
	sqlite3 *db = db_open("pragma synchronous=full");

	(void)arg;
	tux_set_user(c, db);
	if (!db)
		tux_abort(c);
}

static void on_gone(struct tux_connection *c, int err, void *arg)
{
	(void)err;
	(void)arg;
	sqlite3_close(tux_user(c));
}

static int add_row(void *answer, int n, char **value, char **name)
{
	int i;

	(void)name;
	for (i = 0; i < n; i++)
		fprintf(answer, "%s%s", i ? "|" : "", value[i] ? value[i] : "");
	return fputc('\n', answer) == EOF;
}

/* The answer to @sql, which free() takes; NULL. */
static char *answer_to(sqlite3 *db, const char *sql, size_t *len)
{
	char *answer = NULL, *why = NULL;
	FILE *f = open_memstream(&answer, len);

	if (!f)
		return NULL;
	if (sqlite3_exec(db, sql, add_row, f, &why))
		fprintf(f, "error: %s\n", why ? why : sqlite3_errmsg(db));
	sqlite3_free(why);
	fclose(f);
	return answer;
}

static int ask(struct tux_connection *c, const struct tux_message *m)
{
	char *sql = strndup(m->p, m->len), *answer = NULL;
	size_t len = 0;
	int err;

	if (sql)
		answer = answer_to(tux_user(c), sql, &len);
	/* Without the last newline. */
	err = answer ? tux_send_wait(c, answer, len - (len > 0), m->flags,
				     TUX_FOREVER) : -1;
	free(answer);
	free(sql);
	return err;
}

static void on_message(struct tux_connection *c, struct tux_message *m,
		       unsigned n, void *arg)
{
	unsigned i;

	(void)arg;
	for (i = 0; i < n; i++)
		if (ask(c, &m[i])) {
			tux_abort(c);
			return;
		}
}

/* tux_stop() is one of the calls that a signal handler may make. */
static void on_term(int sig)
{
	(void)sig;
	tux_stop(stack);
}

static void print_calls(void)
{
	struct tux_loop_stats st;

	if (!tux_loop_stats(stack, 0, &st, sizeof(st)))
		printf("calls on files: %llu\n",
		       (unsigned long long)(st.file_calls + st.block_calls));
}

static int serve(const char *address, uint16_t port)
{
	struct tux_service *s;
	int err = tux_service_new(stack, &s);

	if (err)
		return err;
	tux_on_open(s, on_open, NULL);
	tux_on_message(s, on_message, NULL);
	tux_on_gone(s, on_gone, NULL);
	err = tux_listen(s, address, port);
	if (err)
		return err;
	printf("port %d\n", tux_port(s));
	err = tux_run(stack);
	print_calls();
	return err;
}

int main(int argc, char **argv)
{
	struct tux_opts o = {
		.size = sizeof(o),
		.ifname = getenv("TUX_UDP"),
		.backend = getenv("TUX_UDP") ? TUX_BACKEND_UDP :
					       TUX_BACKEND_AUTO,
		.stack_len = STACK_LEN,
	};
	sqlite3 *db;
	int err;

	if (argc != 4 || tux_open(&stack, &o)) {
		fputs("usage: sqlite_server ADDRESS PORT FILE\n", stderr);
		return 2;
	}
	signal(SIGTERM, on_term);
	setvbuf(stdout, NULL, _IOLBF, 0);
	file = argv[3];
	db = db_open("pragma journal_mode=wal");
	if (!db)
		return 1;
	sqlite3_close(db);
	err = serve(argv[1], (uint16_t)atoi(argv[2]));
	tux_close(stack);
	if (err)
		fprintf(stderr, "sqlite_server: %s\n", strerror(-err));
	return err != 0;
}
