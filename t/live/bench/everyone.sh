#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# everyone - contrib/demo --everyone: programs without privilege, all on Tux

set -u
. "$(dirname "${BASH_SOURCE[0]}")/../../posix/lib.sh"
. "$(dirname "${BASH_SOURCE[0]}")/../net/hosts.sh"

need "$build/tuxd/tuxd" setpriv findmnt redis-server redis-benchmark wrk nginx
need memcached gunicorn pgbench mosquitto_sub
privilege "$@"
setup

left()
{
	ls -d /run/netns/tux-"$1"-* "$tree/tux-$1"-* 2>/dev/null
}
tree=$(findmnt -rnt cgroup2 -o TARGET | head -n 1)
[ -n "$tree" ] || cannot "no cgroup-v2 is mounted"

start demo "$src/contrib/demo" --everyone --quick --once
demo_pid=$pid
reap "$demo_pid" 300
[ "$?" != 77 ] || cannot "$(tail -n 1 "$dir/demo.out")"
sed 's/^/# /' "$dir/demo.out"
check "its last line" grep -Eq \
	'^everyone: (ok|failed) worst=[0-9.]+ tux_share=[0-9.]+$' \
	<(tail -n 1 "$dir/demo.out")
check "each server starts, each client has its connections and figures" \
	sh -c '! grep -e "failed: " "$1"' sh "$dir/demo.out"
check "each row has a verdict" [ "$(grep -cE \
	' (holds|slow|late|noise)$' "$dir/demo.out")" = 7 ]
check "no row has more connections on Tux than eligible ones" awk '
	/ (holds|slow|late|noise)$/ && $3 > $2 { bad = 1 }
	END { exit bad }' "$dir/demo.out"
check "at least 0.95 of the connections are on Tux" awk -F tux_share= \
	'/^everyone:/ { s = $2 } END { exit !(s >= 0.95) }' "$dir/demo.out"
same "nothing is left" "" "$(left "$demo_pid")"

start demo "$src/contrib/demo" --everyone --quick --once
demo_pid=$pid
wait_for 60 grep -q '^  redis' "$dir/demo.out"
kill -TERM "$demo_pid"
reap "$demo_pid"
same "ended in the middle, nothing is left" "" "$(left "$demo_pid")"
finish
