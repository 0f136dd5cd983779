#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# tuxd - what its programs offer to processes without privilege, on two hosts
# that are a network namespace and a cgroup each

set -u
. "$(dirname "${BASH_SOURCE[0]}")/../../posix/lib.sh"
. "$(dirname "${BASH_SOURCE[0]}")/../net/hosts.sh"
. "$(dirname "${BASH_SOURCE[0]}")/../net/xdp.sh"
. "$(dirname "${BASH_SOURCE[0]}")/../net/cgroups.sh"

tuxd_peer=$build/t/live/tuxd/peer
need "$tuxd_peer" "$build/t/live/net/probe" "$build/t/live/net/sockops"
privilege "$@"
mounts "$@"
setup
two_cgroups
on 65533 "$cg_a"
client=("${a[@]}" "${words[@]}" "$tuxd_peer")
on 65534 "$cg_b"
server=("${b[@]}" "${words[@]}" "$tuxd_peer")
chmod 755 "$dir"		# also they begin there

status=$("$tuxd" status --cgroup "$cg_a" --bpffs "$dir/bpf")
same "not loaded: status says so" 3 $?
check "... and what to do" grep -q "'tuxd load'" <<<"$status"
d load >"$dir/load.out" 2>&1 || cannot "$(cat "$dir/load.out")"
ok "loaded"
pins=$(echo "$dir"/bpf/tux/*)
inodes=$(ls -i "$dir"/bpf/tux/*)

# As the unit starts it
unit()
{
	setpriv --bounding-set=-all,+bpf,+net_admin,+perfmon \
		--inh-caps=-all "$tuxd" "$@" --bpffs "$dir/bpf"
}
check "loaded twice" d load
check "... with the capabilities of the unit" unit load --cgroup "$cg_a"
same "... changes nothing" "$inodes" "$(ls -i "$dir"/bpf/tux/*)"
check "status" unit status --cgroup "$cg_a"
check "other ports: it says that something else is loaded" \
	sh -c '! "$@"' sh "$tuxd" load --cgroup "$cg_a" --bpffs "$dir/bpf" \
		--ports 4000-5000
rm "$dir"/bpf/tux/*/setsockopt
same "damaged: status says so" 4 "$(unit status --cgroup "$cg_a" >&2; echo $?)"
check "... and load makes it anew" d load
check "... all of it" d status

# refuses NAME WORD COMMAND...: fails with a line that has the word, and leaves
# nothing
refuses()
{
	local name=$1 word=$2 said

	shift 2
	said=$("$@" 2>&1 >/dev/null) && not_ok "$name: it worked"
	check "$name: it says why" grep -q -e "$word" <<<"$said"
	same "$name: in one line" 1 "$(wc -l <<<"$said")"
	same "$name: nothing is left" "$pins" "$(echo "$dir"/bpf/tux/*)"
}
mkdir "$cg_a/other"
refuses "without privilege" "as root" setpriv --reuid 65534 --clear-groups \
	"$tuxd" load --cgroup "$cg_a/other" --bpffs "$dir/bpf"
refuses "without the capabilities" "CAP_BPF" setpriv --bounding-set=-all \
	--inh-caps=-all "$tuxd" load --cgroup "$cg_a/other" --bpffs "$dir/bpf"
refuses "no file system for pins" "mount -t bpf" \
	"$tuxd" load --cgroup "$cg_a" --bpffs "$dir"
refuses "no cgroup" "cgroup-v2" "$tuxd" load --cgroup "$dir" \
	--bpffs "$dir/bpf"
refuses "no directory" "--cgroup" "$tuxd" load --cgroup "$dir/none" \
	--bpffs "$dir/bpf"
mkdir "$dir/bpf2" && mount -t bpf bpf "$dir/bpf2"
setpriv --reuid 65534 --clear-groups mkdir "$dir/bpf2/tux"
check "a directory of another user is not used" \
	sh -c '! "$@" && [ -d "$0" ]' "$dir/bpf2/tux" \
	"$tuxd" load --cgroup "$cg_a" --bpffs "$dir/bpf2"
umount "$dir/bpf2"
# shellcheck disable=SC2016 # for the other shell
refuses "no cgroup-v2 tree" "mount -t cgroup2" unshare -m sh -c 'findmnt -rnt \
	cgroup2 -o TARGET | while read -r at; do umount -l "$at"; done; exec "$@"' \
	sh "$tuxd" load --bpffs "$dir/bpf"
"$build/t/live/net/sockops" "$cg_a/other" alone ||
	cannot "a program cannot be attached to a cgroup"
refuses "beside a program that admits no other" "bpftool cgroup tree" \
	"$tuxd" load --cgroup "$cg_a/other" --bpffs "$dir/bpf"
rmdir "$cg_a/other"

# ---- two ends ------------------------------------------------------------------

up()
{
	grep -q "^ready" "$dir/serve.out"
}

# meet NAME SERVER-WORDS CLIENT-WORDS: a connection from a to b; sets $said_a,
# $said_b
meet()
{
	free_port
	# shellcheck disable=SC2086 # words
	start serve "${server[@]}" serve "${to:-$b_addr}" "$port" 1 $2
	wait_for 10 up
	# shellcheck disable=SC2086
	run 60 "${client[@]}" ask "${reach:-$b_addr}" "$port" 1 $3 \
		>"$dir/ask.out" 2>&1
	reap "$pid"
	said_a=$(cat "$dir/ask.out") said_b=$(grep -v ^ready "$dir/serve.out")
}

# share NAME SERVER-WORDS CLIENT-WORDS: both ends have one key
share()
{
	meet "$@"
	check "$1: a key" grep -q '^key [0-9a-f]\{32\} ' <<<"$said_a"
	same "$1: the same at both ends" \
		"$(grep -o '^key [0-9a-f]*' <<<"$said_a")" \
		"$(grep -o '^key [0-9a-f]*' <<<"$said_b")"
}

# plain NAME SERVER-WORDS CLIENT-WORDS REASON-A REASON-B: on TCP, which works
plain()
{
	meet "$@"
	same "$1: the client's reason" "tcp $4" "$said_a"
	same "$1: the server's reason" "tcp $5" "$said_b"
}

# Of an older tuxd, with the same settings; here, one that does nothing.
free_port
start serve "${server[@]}" serve $b_addr "$port" 2
server_pid=$pid
wait_for 10 up
"$build/t/live/net/sockops" \
	"$dir/bpf/tux/cgroup-$(stat -c %i "$cg_b")" older ||
	cannot "a program cannot take over a link"
check "programs of an older tuxd: loaded" d status
same "... which do not announce" "tcp not-announced" \
	"$(run 60 "${client[@]}" ask $b_addr "$port" 1)"
inodes=$(ls -i "$dir"/bpf/tux/*/{setsockopt,handshake,listeners})
check "load: the newer ones take over" unit load --cgroup "$cg_b"
check "... for a listener that was there already" \
	grep -q ^key <<<"$(run 60 "${client[@]}" ask $b_addr "$port" 1)"
reap "$server_pid"
same "... with its links and maps" "$inodes" \
	"$(ls -i "$dir"/bpf/tux/*/{setsockopt,handshake,listeners})"
check "... of which status says nothing else" d status
share "IPv4" '' ''
to=0.0.0.0 share "IPv4, any address" '' ''
to=$b_addr6 reach=$b_addr6 share "IPv6" '' ''
to=:: reach=$b_addr6 share "IPv6, any address" '' ''
to=:: share "IPv4 to IPv6, any address" '' ''
one=$said_a
to=:: share "another connection" '' ''
check "... has another key" [ "$one" != "$said_a" ]

meet "ports" port=4001 port=4002
check "the client's UDP port" grep -q 'port 4002 version 1$' <<<"$said_b"
check "the server's UDP port" grep -q 'port 4001 version 1$' <<<"$said_a"
meet "a server that will not move" why=20 ''
same "a server that will not move: the client shows the server's reason" \
	"tcp interface-busy" "$said_a"

plain "no mark at the server" plain '' not-announced not-announced
plain "no mark at the client" '' plain not-announced not-announced
share "a socket that failed to connect before" '' again

share "accepted in a child" fork ''
share "passed to another process" pass pass

# How many hold a socket: descriptors, and messages on their way.
meet "how many hold it" count count
for host in a b; do
	said=said_$host
	same "how many hold it, at $host" \
		"dup 2 first 1 sent 2 received 2 lost 1 thread 1 forked 2 killed 1" \
		"$(grep -v -e ^key -e ^told <<<"${!said}" | sed 's/ active//' |
			tr '\n' ' ' | sed 's/ $//')"
done
same "... and which end it is, and that its key was read" \
	"told 1 active read told 1 read" \
	"$(grep ^told <<<"$said_a") $(grep ^told <<<"$said_b")"
meet "unmarked" '' "plain count"
same "how many hold it: not known of a socket without a mark" \
	"dup No such file or directory" "$(grep ^dup <<<"$said_a")"

late=$(uname -r | awk -F. '{ print ($1 > 6 || ($1 == 6 && $2 >= 12)) }')
if [ "$late" = 1 ]; then
	share "marked when it listens" late ''
else
	skip "marked when it listens" "this kernel cannot add a callback then"
fi

"${b[@]}" sh -c 'echo 3 >/proc/sys/net/ipv4/tcp_fastopen'
"${a[@]}" sh -c 'echo 3 >/proc/sys/net/ipv4/tcp_fastopen'
plain "TCP Fast Open, without a cookie" tfo tfo not-announced not-announced
plain "TCP Fast Open, with a cookie" tfo tfo not-announced not-announced

meet "MD5 signatures" md5=$a_addr md5=$b_addr
if grep -q TCP_MD5SIG "$dir/serve.err"; then
	skip "MD5 signatures" "this kernel has none"
else
	same "MD5 signatures: both ends stay on TCP" \
		"tcp not-announced tcp not-announced" "$said_a $said_b"
fi

# ---- what is not for a user --------------------------------------------------

free_port
start serve "${server[@]}" serve $b_addr "$port" 1 hold
server_pid=$pid
wait_for 10 up
run 60 "${client[@]}" ask $b_addr "$port" 1 >"$dir/ask.out" 2>&1
holds()
{
	grep -q ^holds "$dir/serve.out"
}
wait_for 10 holds
read -r _ holder fd < <(grep ^holds "$dir/serve.out")
"${client[@]}" steal "$holder" "$fd" >"$dir/steal.out" 2>&1
same "another user gets no descriptor of a socket" \
	"pidfd_getfd: Operation not permitted open: Permission denied" \
	"$(tr '\n' ' ' <"$dir/steal.out" | sed 's/ $//')"
check "another user cannot look at the pins" \
	sh -c '! setpriv --reuid 65534 --clear-groups ls "$1"/tux' sh "$dir/bpf"
end "$server_pid"

announced_n()
{
	"$tuxd" status --cgroup "$cg_b" --bpffs "$dir/bpf" |
		sed -n 's/.*; \([0-9]*\) listeners.*/\1/p'
}

announced_are()
{
	[ "$(announced_n)" = "$1" ]
}
start quota "${server[@]}" quota 100 hold
quota_pid=$pid
wait_for 10 grep -qs ^announced "$dir/quota.out"
same "a user has 64 listeners" "announced 64 of 100" "$(cat "$dir/quota.out")"
same "... as status says" 64 "$(announced_n)"
on 65532 "$cg_b"
same "another user has some left" "announced 3 of 3" \
	"$("${b[@]}" "${words[@]}" "$tuxd_peer" quota 3)"
end "$quota_pid"
check "none is left when they are closed" wait_for 10 announced_are 0

# ---- what others do with sockets ----------------------------------------------

free_port
"${server[@]}" reuse 127.0.0.1 "$port" >"$dir/reuse.out" 2>&1
same "SO_REUSEPORT: one of two listeners closes, and the other is announced" \
	1 "$(grep -o '^key [0-9a-f]*' "$dir/reuse.out" | sort | uniq -c |
		awk '$1 == 2' | wc -l)"
check "... and none is left" wait_for 10 announced_are 0
same "an option of 8 KB reaches the kernel whole" \
	"$("${b[@]}" "$tuxd_peer" big)" "$("${server[@]}" big)"

# watched NAME SERVER-WORDS: a program of another counts the connections of the
# server that close; none of them calls back for each packet
watched()
{
	local watcher

	mkdir "$cg_b/other"
	start watch "$build/t/live/net/sockops" "$cg_b/other" watch
	watcher=$pid
	wait_for 10 grep -q ^ready "$dir/watch.out"
	on 65534 "$cg_b/other"
	server=("${b[@]}" "${words[@]}" "$tuxd_peer")
	meet "$1" "$2" ''
	end "$watcher"
	same "$1" "closed 1 called 0" "$(grep ^closed "$dir/watch.out")"
	server=("${far[@]}")
	rmdir "$cg_b/other"
}
far=("${server[@]}")
watched "another program sees a connection of ours close" ''
if [ "$late" = 1 ]; then
	start quota "${server[@]}" quota 100 hold
	quota_pid=$pid
	wait_for 10 grep -qs ^announced "$dir/quota.out"
	watched "... and of a listener beyond the quota, marked twice" "late twice"
	end "$quota_pid"
fi

cookies()
{
	# shellcheck disable=SC2016 # for the other shell
	"${b[@]}" sh -c 'echo $1 >/proc/sys/net/ipv4/tcp_syncookies' sh "$1"
}
if cookies 2; then
	plain "SYN cookies" '' '' not-announced syn-cookie
	cookies 1
else
	skip "SYN cookies" "the kernel has none"
fi

# ---- a child cgroup has a tuxd of its own ----------------------------------------

mkdir "$cg_b/child"
near=(--cgroup "$cg_b/child" --bpffs "$dir/bpf")
check "loaded on a child cgroup" "$tuxd" load "${near[@]}"
on 65534 "$cg_b/child"
server=("${b[@]}" "${words[@]}" "$tuxd_peer")
share "the nearest tuxd serves" '' ''
check "unloaded there" "$tuxd" unload "${near[@]}"
share "the next one serves" '' ''
if mount -t tmpfs none /sys/kernel/btf 2>/dev/null; then
	check "a kernel that does not describe its types: loaded" \
		"$tuxd" load "${near[@]}"
	umount /sys/kernel/btf
	meet "no description" count ''
	same "... and how many hold a socket is not known" \
		"dup Operation not supported" "$(grep ^dup <<<"$said_b")"
	check "... but the key is" grep -q ^key <<<"$said_b"
	"$tuxd" unload "${near[@]}" >/dev/null
else
	skip "a kernel that does not describe its types" "it cannot be hidden"
fi
server=("${far[@]}")
rmdir "$cg_b/child"

# ---- whole programs, over AF_XDP -------------------------------------------------

# With privilege, and in the cgroup $1.
# shellcheck disable=SC2016 # for the other shell
in_cgroup()
{
	words=(sh -c 'echo $$ >"$0/cgroup.procs" && exec "$@"' "$1")
}

links_n()
{
	find "/proc/$1/fd" -lname 'anon_inode:bpf*link*' 2>/dev/null | wc -l
}

# moves NAME SERVER-CGROUP CLIENT-CGROUP: Redis and its client move to Tux
moves()
{
	local server client

	in_cgroup "$2"
	redis server "${words[@]}" "${tux[@]}" || return 1
	server=$pid
	[ "$2" = "$cg_b" ] &&
		same "$1: the server loads no program" 0 "$(links_n "$server")"
	in_cgroup "$3"
	start client "${a[@]}" "${words[@]}" "${tux[@]}" "$load" --host $b_addr \
		--port "$port" --conns 3 --size 100 --every 100
	client=$pid
	check "$1: they move" wait_for 10 moved client 3
	end "$client"
	end "$server"
}

# tiers NAME SERVER CLIENT: the arrays with the words that put either on its tier
tiers()
{
	local -n serves=$2 asks=$3
	local server client

	in_cgroup "$cg_b"
	redis server "${words[@]}" "${serves[@]}" || return 1
	server=$pid
	in_cgroup "$cg_a"
	start client "${a[@]}" "${words[@]}" "${asks[@]}" "$load" --host $b_addr \
		--port "$port" --conns 3 --size 100 --every 100
	client=$pid
	check "$1: they move" wait_for 10 moved client 3
	check "... at the server, too" wait_for 10 moved server 3
	check "... and it works" goes_on client
	where=$(attached "$ns_b" && echo -n xdp || echo -n sockets
		attached "$ns_a" && echo " xdp" || echo " sockets")
	end "$client"
	end "$server"
}

# AF_XDP at one end, and a user's UDP sockets at the other.
mixed()
{
	local where xdp=("$build/contrib/tuxrun" -i veth0 --io xdp -v)
	local user=(setpriv --reuid 65534 --regid 65534 --clear-groups
		--inh-caps=-all --no-new-privs "$build/contrib/tuxrun" -v)

	chmod 777 "$dir"
	tiers "server over AF_XDP, client over sockets" xdp user
	same "... on these tiers" "xdp sockets" "$where"
	wait_for 10 none_attached
	tiers "server over sockets, client over AF_XDP" user xdp
	same "... on these tiers" "sockets xdp" "$where"
	chmod 755 "$dir"
}

load=$build/t/posix/load

# Nothing but the programs of tuxd: users without privilege, over UDP.
chmod 777 "$dir"
unprivileged 65534 "$cg_b"
if command -v redis-server >/dev/null &&
	"${words[@]}" true 2>"$dir/tuxrun.err"; then
	same "tuxrun has nothing to say" "" "$(cat "$dir/tuxrun.err")"
	redis server "${words[@]}"
	server_pid=$pid
	unprivileged 65533 "$cg_a"
	start client "${a[@]}" "${words[@]}" "$load" --host $b_addr \
		--port "$port" --conns 3 --size 100 --every 100
	client_pid=$pid
	check "without privilege, they move" wait_for 10 moved client 3
	check "... with no program on an interface" none_attached
	check "... and it works" goes_on client
	if without_tuxd "an end without a key"; then
		start stranger "${a[@]}" "$build/contrib/tuxrun" --io udp -v \
			"$load" --host $b_addr --port "$port" --conns 1 \
			--size 100 --every 100
		check "an end without a key: works" \
			wait_for 10 answered stranger 10
		sleep 3		# in which it could move
		same "an end without a key: on TCP" 0 \
			"$(on_tux "$dir/stranger.err")"
		end "$pid"
	fi
	end "$client_pid"
	end "$server_pid"

	# The UDP port with the listener's number is another program's.
	free_port
	start hears "${b[@]}" "$build/t/live/net/probe" listen $b_addr "$port" 300
	hears_pid=$pid
	unprivileged 65534 "$cg_b"
	start server "${b[@]}" "${words[@]}" redis-server --port "$port" \
		--bind $b_addr --save '' --protected-mode no
	server_pid=$pid
	wait_for 10 listening "$port"
	unprivileged 65533 "$cg_a"
	start client "${a[@]}" "${words[@]}" "$load" --host $b_addr \
		--port "$port" --conns 3 --size 100 --every 100
	client_pid=$pid
	check "UDP at the listener's number is not needed" \
		wait_for 10 moved client 3
	check "... and it works" goes_on client
	end "$client_pid"
	end "$server_pid"
	end "$hears_pid"
else
	skip "without privilege" "another user cannot run tuxrun here"
fi

# The master listens, and its children accept.
if command -v nginx >/dev/null && command -v wrk >/dev/null; then
	free_port
	cat >"$dir/nginx.conf" <<-E
		worker_processes 2;
		daemon off;
		pid $dir/nginx.pid;
		error_log stderr;
		events { }
		http {
			access_log off;
			client_body_temp_path $dir/nginx;
			proxy_temp_path $dir/nginx;
			fastcgi_temp_path $dir/nginx;
			uwsgi_temp_path $dir/nginx;
			scgi_temp_path $dir/nginx;
			server {
				listen $b_addr:$port;
				keepalive_requests 1000000;
				location / { return 200 "ok"; }
			}
		}
	E
	unprivileged 65534 "$cg_b"
	start nginx "${b[@]}" "${words[@]}" nginx -c "$dir/nginx.conf" \
		-e stderr
	server_pid=$pid
	wait_for 10 listening "$port"
	unprivileged 65533 "$cg_a"
	browse 16 move_at_both wrk nginx 16
	same "workers that accept for their master: they move" 16 \
		"$(on_tux "$dir/wrk.err")"
	same "... at the other end, too" 16 "$(on_tux "$dir/nginx.err")"
	check "... and it works" grep -q "Requests/sec" "$dir/wrk.out"
	check_final "... without an error" \
		sh -c '! grep -q "Socket errors\|Non-2xx" "$1"' sh "$dir/wrk.out"
	end "$server_pid"
else
	skip "workers" "needs nginx and wrk"
fi
chmod 755 "$dir"

tux=("$build/contrib/tuxrun" -i veth0 --io xdp -v)
if [ "$(id -u)" = 0 ] && command -v redis-server >/dev/null; then
	moves "both ends under tuxd" "$cg_b" "$cg_a"
	"$tuxd" unload --cgroup "$cg_a" --bpffs "$dir/bpf" >/dev/null
	moves "one end under tuxd, the other with its own program" \
		"$cg_b" "$cg_a"
	"$tuxd" load --cgroup "$cg_a" --bpffs "$dir/bpf" >/dev/null
	mixed
else
	skip "whole programs" "needs redis-server"
fi

# TUX_OLDER names a built tree of an older version.  The option of that version has
# 16 bytes.
# keeps NAME SERVER-TREE CLIENT-TREE REASON-SERVER: works, on TCP
keeps()
{
	local server client new=("${tux[@]}")

	in_cgroup "$cg_b"
	redis server "${words[@]}" "$2/contrib/tuxrun" "${new[@]:1}" || return 1
	server=$pid
	in_cgroup "$cg_a"
	start client "${a[@]}" "${words[@]}" "$3/contrib/tuxrun" "${new[@]:1}" \
		"$load" --host $b_addr --port "$port" --conns 3 --size 100 \
		--every 100
	client=$pid
	check "$1: the client says why" wait_for 10 said not-announced client
	check "$1: the server says why" wait_for 10 said "$4" server
	check "$1: it works" goes_on client
	end "$client"
	end "$server"
}
if [ -n "${TUX_OLDER:-}" ]; then
	keeps "an older client" "$build" "$TUX_OLDER" version
	keeps "an older server" "$TUX_OLDER" "$build" not-announced
else
	skip "an older peer" "TUX_OLDER names no built tree"
fi

# ---- unloading under load ----------------------------------------------------------

free_port
start serve "${server[@]}" serve $b_addr "$port" 100000000
server_pid=$pid
wait_for 10 up
few_ports 2000 65000		# no more than the client needs in a second
start ask "${client[@]}" ask $b_addr "$port" 100000000
ask_pid=$pid
asked()
{
	tail -n 3 "$dir/ask.out" | head -n 2 | grep -q "^$1"
}
check "under load, connections have keys" wait_for 10 asked key
check "unloaded under load" d unload
if without_tuxd "the last is on TCP"; then
	check "the last is on TCP" wait_for 10 asked "tcp no-announce"
fi
check_final "connections go on, all of them" alive "$ask_pid"
check_final "the server has not ended" alive "$server_pid"
end "$ask_pid"
end "$server_pid"
check "unloaded twice" d unload
many()
{
	local i

	for i in 1 2 3 4 5 6 7 8; do
		"$tuxd" load --cgroup "$cg_a" --bpffs "$dir/bpf" &
		"$tuxd" unload --cgroup "$cg_a" --bpffs "$dir/bpf" &
	done
	wait
}
many >"$dir/many.out" 2>&1
same "many at once: none fails" "" \
	"$(grep -v -e ': loaded' -e ': unloaded' -e 'not loaded' "$dir/many.out")"
check "... and then it is unloaded" d unload
check "nothing is left" [ ! -e "$dir/bpf/tux" ]

finish
