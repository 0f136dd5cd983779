#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# unclaim - threads sleep on a connection while it goes back to the kernel

set -u
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

program=$build/t/posix/unclaim tuxrun=$build/contrib/tuxrun
cases=("a reader" "a reader of all" "a writer" "a poller"
	"a thread in epoll_wait" "a stream of stdio")
need "$program"
setup

# try HOW WORDS...: starts each case of the program under WORDS.
try()
{
	local case

	for case in "${cases[@]}"; do
		(cd "$dir" && exec timeout -k 5 120 "${@:2}" "$program" "$case") \
			>"$dir/$1, $case.out" 2>"$dir/$1, $case.err" </dev/null &
		pids+=($!)
		tried+=("$1, $case")
	done
}

pids=() tried=()
export TUX_PATH=auto TUX_IO=udp
try kernel env
try inline "$tuxrun" -i lo -v
try thread "$tuxrun" -i lo -v -m threads=1
for i in "${!pids[@]}"; do
	wait "${pids[i]}"
	same_final "${tried[i]}" 0 $?
	sed 's/^/# /' "$dir/${tried[i]}.err" | grep -v '# tux: '
done
# Unless the processors were busy all the time.
echo "# claimed in vain: $(grep -l peer-silent "$dir"/*.err | wc -l) of 12"
finish
