#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# shellcheck disable=SC2154 # the libraries set the names
#
# postgres_regress - PostgreSQL's own regression tests between two hosts with
# tuxd: which fail over TCP, and which over Tux?
#
#	t/live/tuxd/postgres_regress.sh SOURCE [WAY...]
#
# It takes a minute, and is run by hand.  SOURCE is src/test/regress of PostgreSQL's source, of the version that is
# installed, with regress.so, refint.so and autoinc.so in it.  HACKING says how
# these are made.  A WAY is tcp, or what TUX_PATH is then; without, tcp and tux.

set -u
. "$(dirname "${BASH_SOURCE[0]}")/../../posix/lib.sh"
. "$(dirname "${BASH_SOURCE[0]}")/../net/hosts.sh"
. "$(dirname "${BASH_SOURCE[0]}")/../net/xdp.sh"
. "$(dirname "${BASH_SOURCE[0]}")/../net/cgroups.sh"
. "$(dirname "${BASH_SOURCE[0]}")/postgres_hosts.sh"

source=${1-}
[ -e "$source/regress.so" ] || cannot "needs a SOURCE with regress.so"
pg_regress=${pg_bin%/bin}/lib/pgxs/src/test/regress/pg_regress
need "$pg_bin/postgres" "$pg_regress"
privilege "$@"
mounts "$@"
setup
two_cgroups
chmod 777 "$dir"
d load >"$dir/load.out" 2>&1 || cannot "$(cat "$dir/load.out")"
shift
[ $# -gt 0 ] || set -- tcp tux

# results WAY: one line for each test, without how long it took
results()
{
	sed -n 's/^\(test\|    *\) *\([a-z0-9_.]*\) *\.\.\. \([a-zA-Z]*\).*/\2 \3/p' \
		"$dir/$1.out" | sort
}

pg_say=			# psql's errors belong to the tests
for way; do
	mkdir -m 777 "$dir/out-$way" "$dir/out-$way/results"
	pg_data "$way" && pg_say=-v pg_serve "$way" "$way" ||
		cannot "no server: $(tail -n 3 "$dir/server-$way.err")"
	pg_client "$way" "$way" "$pg_regress" --bindir="$pg_bin" --no-locale \
		--host=$b_addr --port="${pg_port[$way]}" --user=postgres \
		--inputdir="$source" --outputdir="$dir/out-$way" \
		--dlpath="$source" --max-concurrent-tests=20 \
		--schedule="$source/parallel_schedule"
	start "$way" "${client[@]}"
	reap "$pid" 900
	end "${pg_pid[$way]}"
	echo "# $way: $(tail -n 30 "$dir/$way.out" | grep -e '^ .*tests' | xargs)"
	results "$way" | sed -n "s/ FAILED$//p" | sed "s/^/# $way: fails: /"
	check "$way: it runs" [ "$(results "$way" | wc -l)" -gt 100 ]
	same "$way: as $1" "$(results "$1")" "$(results "$way")"
	[ "$way" = tcp ] || echo "# $way: connections: $(talked_of \
		"$dir/server-$way.err"); on Tux: $(on_tux "$dir/server-$way.err")"
done

d unload >/dev/null
finish
