/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An object with thread-local storage, which the torture loads; it is built for
 * either model of it.
 */
int *torture_tls_slot(void);

static __thread volatile int slot = 1234;

__attribute__((visibility("default"))) int *torture_tls_slot(void)
{
	return (int *)&slot;
}
