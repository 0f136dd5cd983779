/* SPDX-License-Identifier: BSD-2-Clause */
#include "store.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <tux.h>

static const char *const names[STORE_TABLES] = {
	[STORE_RECORDS] = "records",
	[STORE_WAREHOUSES] = "warehouses",
	[STORE_DISTRICTS] = "districts",
	[STORE_CUSTOMERS] = "customers",
	[STORE_NAMES] = "names",
	[STORE_HISTORY] = "history",
	[STORE_ORDERS] = "orders",
	[STORE_LAST_ORDERS] = "last_orders",
	[STORE_NEW_ORDERS] = "new_orders",
	[STORE_LINES] = "lines",
	[STORE_ITEMS] = "items",
	[STORE_STOCK] = "stock",
};

static int errno_of(int rc)
{
	switch (rc) {
	case MDB_NOTFOUND: return -ENOENT;
	case MDB_MAP_FULL: return -ENOSPC;
	default: return rc > 0 ? -rc : rc ? -EIO : 0;
	}
}

/* ---- open and close ------------------------------------------------------ */

static int open_tables(struct store *s)
{
	bool look = s->mode == STORE_LOOK;
	MDB_txn *t;
	int i, rc = mdb_txn_begin(s->env, NULL, look ? MDB_RDONLY : 0, &t);

	if (rc)
		return rc;
	for (i = 0; i < STORE_TABLES && !rc; i++)
		rc = mdb_dbi_open(t, names[i], MDB_INTEGERKEY |
				  (look ? 0 : MDB_CREATE), &s->table[i]);
	if (rc) {
		mdb_txn_abort(t);
		return rc;
	}
	return mdb_txn_commit(t);
}

static int open_env(struct store *s, const char *dir, size_t size)
{
	unsigned flags = MDB_NOTLS | MDB_NORDAHEAD;
	int rc = mdb_env_create(&s->env);

	/* Through the map, a commit is no system call at all. */
	if (s->mode == STORE_FAST)
		flags |= MDB_NOSYNC | MDB_WRITEMAP;
	if (s->mode == STORE_LOOK)
		flags |= MDB_RDONLY;
	if (!rc)
		rc = mdb_env_set_mapsize(s->env, size);
	if (!rc)
		rc = mdb_env_set_maxdbs(s->env, STORE_TABLES);
	if (!rc)
		rc = mdb_env_set_maxreaders(s->env, STORE_READERS);
	if (!rc)
		rc = mdb_env_open(s->env, dir, flags, 0644);
	/* Slots of readers that were killed. */
	if (!rc)
		rc = mdb_reader_check(s->env, NULL);
	return rc;
}

int store_open(struct store *s, const char *dir, size_t size,
	       enum store_mode mode)
{
	int rc;

	*s = (struct store){ .mode = mode };
	pthread_mutex_init(&s->lock, NULL);
	if (mode != STORE_LOOK && mkdir(dir, 0755) && errno != EEXIST)
		return -errno;
	rc = open_env(s, dir, size);
	if (!rc)
		rc = open_tables(s);
	if (rc)
		store_close(s);
	return errno_of(rc);
}

void store_close(struct store *s)
{
	while (s->idle_n)
		mdb_txn_abort(s->idle[--s->idle_n]);
	mdb_env_close(s->env);
	s->env = NULL;
}

/* ---- transactions that read ---------------------------------------------- */

static MDB_txn *take_idle(struct store *s)
{
	MDB_txn *t = NULL;

	tux_uninterruptible_enter();
	pthread_mutex_lock(&s->lock);
	if (s->idle_n)
		t = s->idle[--s->idle_n];
	pthread_mutex_unlock(&s->lock);
	tux_uninterruptible_leave();
	return t;
}

/* A new one takes a lock of LMDB's, and one that is used again takes none. */
int store_read(struct store *s, struct txn *t)
{
	int rc;

	*t = (struct txn){ s, take_idle(s) };
	if (t->mdb) {
		rc = mdb_txn_renew(t->mdb);
		if (rc)
			mdb_txn_abort(t->mdb);
		return errno_of(rc);
	}
	tux_uninterruptible_enter();
	rc = mdb_txn_begin(s->env, NULL, MDB_RDONLY, &t->mdb);
	tux_uninterruptible_leave();
	return errno_of(rc);
}

void store_read_end(struct txn *t)
{
	struct store *s = t->s;

	mdb_txn_reset(t->mdb);
	tux_uninterruptible_enter();
	pthread_mutex_lock(&s->lock);
	s->idle[s->idle_n++] = t->mdb;
	pthread_mutex_unlock(&s->lock);
	tux_uninterruptible_leave();
}

/* ---- transactions that write --------------------------------------------- */

int store_write(struct store *s, struct txn *t)
{
	*t = (struct txn){ .s = s };
	return errno_of(mdb_txn_begin(s->env, NULL, 0, &t->mdb));
}

void store_abort(struct txn *t)
{
	mdb_txn_abort(t->mdb);
}

struct commit {
	MDB_txn *mdb;
	int rc;
};

static void commit_now(void *arg)
{
	struct commit *c = arg;

	c->rc = mdb_txn_commit(c->mdb);
}

int store_commit(struct txn *t)
{
	struct commit c = { .mdb = t->mdb };

	if (t->s->mode == STORE_SYNC && tux_can_block())
		tux_block(commit_now, &c);
	else
		commit_now(&c);
	return errno_of(c.rc);
}

/* ---- rows ---------------------------------------------------------------- */

int txn_get(struct txn *t, enum store_table table, uint64_t key, void *row,
	    size_t len)
{
	MDB_val k = { sizeof(key), &key }, v;
	int rc = mdb_get(t->mdb, t->s->table[table], &k, &v);

	if (rc)
		return errno_of(rc);
	if (v.mv_size != len)
		return -EIO;
	memcpy(row, v.mv_data, len);
	return 0;
}

static int put_row(struct txn *t, enum store_table table, uint64_t key,
		   const void *row, size_t len, unsigned flags)
{
	MDB_val k = { sizeof(key), &key }, v = { len, (void *)row };

	return errno_of(mdb_put(t->mdb, t->s->table[table], &k, &v, flags));
}

int txn_put(struct txn *t, enum store_table table, uint64_t key,
	    const void *row, size_t len)
{
	return put_row(t, table, key, row, len, 0);
}

int txn_append(struct txn *t, enum store_table table, uint64_t key,
	       const void *row, size_t len)
{
	return put_row(t, table, key, row, len, MDB_APPEND);
}

int txn_del(struct txn *t, enum store_table table, uint64_t key)
{
	MDB_val k = { sizeof(key), &key };

	return errno_of(mdb_del(t->mdb, t->s->table[table], &k, NULL));
}

int txn_scan(struct txn *t, enum store_table table, uint64_t from, uint64_t to,
	     txn_row_fn *fn, void *arg)
{
	MDB_val k = { sizeof(from), &from }, v;
	MDB_cursor *c;
	int rc = mdb_cursor_open(t->mdb, t->s->table[table], &c);

	if (rc)
		return errno_of(rc);
	rc = mdb_cursor_get(c, &k, &v, MDB_SET_RANGE);
	while (!rc) {
		uint64_t key;

		memcpy(&key, k.mv_data, sizeof(key));
		if (key >= to)
			break;
		rc = fn(key, v.mv_data, v.mv_size, arg);
		if (rc) {
			mdb_cursor_close(c);
			return rc;
		}
		rc = mdb_cursor_get(c, &k, &v, MDB_NEXT);
	}
	mdb_cursor_close(c);
	return rc == MDB_NOTFOUND ? 0 : errno_of(rc);
}
