# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash disable=SC2154,SC2034 # names of bench/figures
#
# figure_cost - figure 10, the table of section 2.4, and figure 1 of "A Wake-Up Call for
# Kernel-Bypass on Modern Hardware" (DaMoN '25): where the time of a request goes on the
# server
#
# perf(1) samples the server's core while it serves all that it can, so that no time is
# spent on waiting; the paper's figure 10 is at 50,000 requests a second, less what
# polls.  figures_cost.pl says to which part a sample belongs.

# profiled: while the client measures
profiled()
{
	perf record -q -e cpu-clock -F 7000 -C "$server_core" \
		-o "$dir/perf.data" sleep "$seconds" >"$dir/perf.out" 2>&1
}

# note_cost FIGURE: adds to the runs what a request cost in each part
note_cost()
{
	perf report -q -i "$dir/perf.data" --stdio --no-children -t '	' \
		--sort comm,dso,sym 2>/dev/null |
		perl "$src/bench/figures_cost.pl" "$(field rate)" \
			"$build/.libs/libtux.a" |
		while read -r part us; do
			printf '%s\t%s\t%s\t%s\t%s\n' "$1" "$mtu" "$contender" \
				"$part" "$us"
		done >>"$dir/costs"
}

# cost FIGURE WORDS...: asks $server, and notes what that cost
cost()
{
	local figure=$1 amid=profiled

	shift
	ask "$figure" cost 0 "$@" && note_cost "$figure"
}

# ---- Redis --------------------------------------------------------------------

ask_10()
{
	conns=32
	cost 10 --protocol redis-get --size 1024 --keys "$records" --filled
}

# For the table, too.
figure_10()
{
	local why

	[ -z "${redis_cost:-}" ] || return 0
	redis_cost=done
	has perf && has redis-server && linked redis "${TUX_REDIS:-}" ||
		missing 10 "$why" || return
	redis_linked=$built/src
	set_mtu 1500
	cache 10 redis ask_10
}

figure_2.4()
{
	figure_10
}

# ---- a message of 64 bytes ------------------------------------------------------

serve_message()
{
	local rc

	case $contender in
	kernel) serve server "${on_server[@]}" "$build/bench/echo" \
		--port @PORT@ --host "$bind" ;;
	uring) serve server "${on_server[@]}" "$build/bench/uring_echo" \
		--port @PORT@ --host "$bind" ;;
	raw) start_raw ;;
	*) serve server "${on_server[@]}" "$build/bench/pushdown" \
		--port @PORT@ --host "$bind" --interface veth0 --spin ;;
	esac
	rc=$?
	server=$pid
	return $rc
}

# Many connections, so that each message is one for kernel TCP as well.
cost_of_message()
{
	local amid=profiled

	conns=32
	if [ "$contender" = raw ]; then
		play_client "$build/bench/raw" --interface veth0 \
			--local 10.77.0.1 --peer 10.77.0.2 --in-flight $conns \
			--seconds "$seconds" --warm-up "$warmup" --spin &&
			note_cost w1
	else
		cost w1 --size 64
	fi
}

figure_w1()
{
	local run why

	has perf || missing w1 "$why" || return
	set_mtu 1500
	for ((run = 1; run <= runs; run++)); do
		for contender in kernel uring raw tux-stream tux-messages; do
			[ "$contender" != uring ] || has "$build/bench/uring_echo" ||
				continue
			progress "w1: $contender, run $run of $runs"
			place
			case $contender in
			uring) bind=10.78.0.2 client_by=(--spin) ;;
			kernel) client_by=(--spin) ;;
			tux-messages) client_by[1]=messages ;;
			esac
			if serve_message; then
				cost_of_message
			else
				wrong "figure w1, $contender: no server"
			fi
			stop_server
		done
	done
}
