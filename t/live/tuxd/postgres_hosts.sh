# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash disable=SC2034,SC2154 # the scripts that source it use the names
#
# postgres_hosts - PostgreSQL on host b, clients on host a, without privilege
#
# A way is how bytes travel: "tcp" is without tuxrun, and another one is what
# TUX_PATH is under tuxrun.  Source it after t/live/net/cgroups.sh, then
# two_cgroups.

pg_bin=$(printf '%s\n' /usr/lib/postgresql/*/bin | sort -V | tail -n 1)
declare -A pg_pid pg_port	# of each server
pg_say=-v			# for tuxrun; may be empty

# pg_words WAY UID CGROUP: sets $words
pg_words()
{
	on "$2" "$3"
	# shellcheck disable=SC2206 # may be empty
	[ "$1" = tcp ] ||
		words+=(env "TUX_PATH=$1" "$build/contrib/tuxrun" $pg_say)
}

# pg_data NAME: a cluster of databases
pg_data()
{
	setpriv --reuid 65534 --regid 65534 --clear-groups \
		"$pg_bin/initdb" -N -A trust -U postgres -D "$dir/data-$1" \
		--locale=C -E UTF8 >"$dir/initdb.out" 2>&1 &&
		echo "host all all 10.77.0.0/24 trust" >>"$dir/data-$1/pg_hba.conf"
}

pg_ready()
{
	"${b[@]}" "$pg_bin/pg_isready" -q -h $b_addr -p "${pg_port[$1]}"
}

pg_ready_or_gone()
{
	pg_ready "$1" || ! alive "${pg_pid[$1]}"
}

# pg_serve NAME WAY OPTIONS...: starts the server of that cluster, and waits until
# it answers
pg_serve()
{
	local name=$1

	free_port
	pg_port[$name]=$port
	pg_words "$2" 65534 "$cg_b"
	start "server-$name" "${b[@]}" "${words[@]}" "$pg_bin/postgres" \
		-D "$dir/data-$name" -h $b_addr -p "$port" -k "$dir" \
		-c fsync=off "${@:3}"
	pg_pid[$name]=$pid
	wait_for 20 pg_ready_or_gone "$name" && pg_ready "$name"
}

# pg_client NAME WAY PROGRAM WORDS...: a client of that server, for `run` and
# `start`; sets $client
pg_client()
{
	pg_words "$2" 65533 "$cg_a"
	client=("${a[@]}" "${words[@]}" env "PATH=$pg_bin:$PATH"
		PGHOST=$b_addr "PGPORT=${pg_port[$1]}" PGUSER=postgres PGDATABASE=postgres
		PGCONNECT_TIMEOUT=10 "${@:3}")
}
