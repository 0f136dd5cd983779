/* SPDX-License-Identifier: BSD-2-Clause */
#include "handshake/mark.h"

#include <netinet/in.h>
#include <sys/socket.h>

#include "announce_bpf.h"

#include "../test.h"

static void verdict__of_what_came(void **state)
{
	(void)state;
	assert_int_equal(tux_mark_verdict(TUX_BPF_SAW_OPTION, 1, 0),
			 TUX_REASON_NONE);
	assert_int_equal(tux_mark_verdict(TUX_BPF_SAW_NOTHING, 1, 0),
			 TUX_REASON_NOT_ANNOUNCED);
	assert_int_equal(tux_mark_verdict(TUX_BPF_SAW_NONE, 1, 0),
			 TUX_REASON_NOT_ANNOUNCED);
	assert_int_equal(tux_mark_verdict(TUX_BPF_SAW_COOKIE, 1, 0),
			 TUX_REASON_SYN_COOKIE);
	assert_int_equal(tux_mark_verdict(TUX_BPF_SAW_OTHER, 1, 0),
			 TUX_REASON_VERSION);
	assert_int_equal(tux_mark_verdict(TUX_BPF_SAW_TRANSLATED, 1, 0),
			 TUX_REASON_TRANSLATED);
	assert_int_equal(tux_mark_verdict(TUX_BPF_SAW_QUOTA, 1, 0),
			 TUX_REASON_LISTENERS);
}

static void verdict__of_the_peer(void **state)
{
	(void)state;
	assert_int_equal(tux_mark_verdict(TUX_BPF_SAW_OPTION, 2, 0),
			 TUX_REASON_VERSION);
	assert_int_equal(tux_mark_verdict(TUX_BPF_SAW_OPTION, 1,
					  TUX_REASON_INTERFACE_BUSY),
			 TUX_REASON_INTERFACE_BUSY);
	assert_int_equal(tux_mark_verdict(TUX_BPF_SAW_OPTION, 1, 255),
			 TUX_REASON_PEER_RAW);
}

static void mark__of_what_is_no_socket(void **state)
{
	struct tux_mark_held h;
	struct tux_mark_peer p;

	(void)state;
	assert_true(tux_mark_held(-1, &h) < 0);
	assert_int_equal(tux_mark(-1, 1, 0, TUX_REASON_NONE),
			 -TUX_REASON_NO_ANNOUNCE);
	assert_int_equal(tux_mark_read(-1, &p), -TUX_REASON_NO_ANNOUNCE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(verdict__of_what_came),
		cmocka_unit_test(verdict__of_the_peer),
		cmocka_unit_test(mark__of_what_is_no_socket),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
