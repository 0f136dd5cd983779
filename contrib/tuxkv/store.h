/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * store - tables in LMDB, and transactions on them
 *
 * A row has a key of 64 bits.  Any thread and any callback may read, in as many
 * transactions as there are.  LMDB has one writer at a time: writers.h says whose
 * turn it is, so that a callback never waits for LMDB's own lock.
 */
#ifndef TUXKV_STORE_H
#define TUXKV_STORE_H

#include <lmdb.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { STORE_READERS = 2048 };	/* transactions that read at the same time */

enum store_table {
	STORE_RECORDS,		/* YCSB */
	STORE_WAREHOUSES,	/* TPC-C, see tpcc_rows.h */
	STORE_DISTRICTS,
	STORE_CUSTOMERS,
	STORE_NAMES,
	STORE_HISTORY,
	STORE_ORDERS,
	STORE_LAST_ORDERS,
	STORE_NEW_ORDERS,
	STORE_LINES,
	STORE_ITEMS,
	STORE_STOCK,
	STORE_TABLES,
};

enum store_mode {
	STORE_FAST,		/* a commit survives the death of this process, but not
				 * that of the system */
	STORE_SYNC,		/* a commit is on disk when it returns */
	STORE_LOOK,		/* nothing is written */
};

struct store {
	MDB_env *env;
	MDB_dbi table[STORE_TABLES];
	enum store_mode mode;
	pthread_mutex_t lock;	/* of what follows */
	MDB_txn *idle[STORE_READERS];	/* to be used again */
	unsigned idle_n;
};

struct txn {
	struct store *s;
	MDB_txn *mdb;
};

/* Opens the database in the directory @dir, which is made if it is missing, unless @mode
 * is STORE_LOOK.  It may grow to @size bytes.  -errno. */
int store_open(struct store *s, const char *dir, size_t size,
	       enum store_mode mode);
void store_close(struct store *s);

/* ---- transactions; each returns 0 or -errno ------------------------------ */

int store_read(struct store *s, struct txn *t);
void store_read_end(struct txn *t);

int store_write(struct store *s, struct txn *t);
void store_abort(struct txn *t);
/* With sync, a routine waits for the disk, and others go on meanwhile. */
int store_commit(struct txn *t);

/* Copies the @len bytes of a row; in the map they are not aligned.  -ENOENT: there
 * is no such row; -EIO: it has another length. */
int txn_get(struct txn *t, enum store_table table, uint64_t key, void *row,
	    size_t len);
/* A new row, or other bytes for an old one. */
int txn_put(struct txn *t, enum store_table table, uint64_t key,
	    const void *row, size_t len);
/* A new row behind all others: it makes full pages. */
int txn_append(struct txn *t, enum store_table table, uint64_t key,
	       const void *row, size_t len);
/* -ENOENT. */
int txn_del(struct txn *t, enum store_table table, uint64_t key);

/* Calls @fn for each row with a key from @from on and below @to, in their order, until
 * it returns something else than 0.  Returns that; 0; or -errno.  @row is not
 * aligned. */
typedef int txn_row_fn(uint64_t key, const void *row, size_t len, void *arg);
int txn_scan(struct txn *t, enum store_table table, uint64_t from, uint64_t to,
	     txn_row_fn *fn, void *arg);

#endif
