# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash disable=SC2034 # the scripts that source it use the names
#
# cgroups - two hosts, with a cgroup each, for tuxd
#
# Source it after t/live/net/xdp.sh, then privilege "$@", mounts "$@", setup,
# two_cgroups; or, with other hosts than two_hosts makes, cgroups.

tuxd=$build/tuxd/tuxd
tree=			# where cgroup-v2 is mounted
cg_a='' cg_b=''
above=			# not empty: the machine's operator has loaded a tuxd on a
			# cgroup above, which serves these two as well

# A mount namespace of its own, for a file system of BPF objects.
mounts()
{
	need setpriv findmnt "$tuxd"
	if [ -z "${TUX_MOUNTS:-}" ]; then
		TUX_MOUNTS=1 exec unshare -m bash "$0" "$@"
	fi
	tree=$(findmnt -rnt cgroup2 -o TARGET | head -n 1)
	[ -n "$tree" ] || cannot "no cgroup-v2 is mounted"
}

leave()
{
	"$tuxd" unload --cgroup "$cg_a" --bpffs "$dir/bpf"
	"$tuxd" unload --cgroup "$cg_b" --bpffs "$dir/bpf"
	umount "$dir/bpf"
	tidy
	rmdir "$cg_a"/*/ "$cg_b"/*/
	rmdir "$cg_a" "$cg_b"
} >/dev/null 2>&1

cgroups()
{
	mkdir "$dir/bpf" && mount -t bpf bpf "$dir/bpf" ||
		cannot "cannot mount a file system for BPF objects"
	cg_a=$tree/tux-$$-a cg_b=$tree/tux-$$-b
	trap leave EXIT
	mkdir -p "$cg_a" "$cg_b" || cannot "cannot make a cgroup in $tree"
	inside "$cg_b"
	[ "$("${words[@]}" "$build/t/live/tuxd/peer" quota 1 2>/dev/null)" != \
		"announced 1 of 1" ] || above=yes
}

two_cgroups()
{
	two_hosts
	cgroups
}

# d WORDS...: tuxd, of both hosts
d()
{
	"$tuxd" "$@" --cgroup "$cg_a" --bpffs "$dir/bpf" &&
		"$tuxd" "$@" --cgroup "$cg_b" --bpffs "$dir/bpf"
}

# without_tuxd NAME: if $above, the case NAME cannot be shown
without_tuxd()
{
	[ -n "$above" ] || return 0
	skip "$1" "a tuxd is loaded on a cgroup above"
	return 1
}

# The words that put a program into a cgroup.
# shellcheck disable=SC2016 # for the other shell
inside()
{
	words=(sh -c 'echo $$ >"$0/cgroup.procs" && exec "$@"' "$1")
}

# The words that put a program into a cgroup $2, as user $1 without privilege.
on()
{
	inside "$2"
	words+=(setpriv --reuid "$1" --regid "$1" --clear-groups
		--inh-caps=-all --no-new-privs)
}

# The same, under tuxrun.
unprivileged()
{
	on "$1" "$2"
	words+=("$build/contrib/tuxrun" -v)
}

# settled LOG...: connections of which an end says that they have moved or that,
# by default, busy processors keep them on TCP
settled()
{
	cat "$@" | sed -n 's/^tux: \(.* > .*\) fd [0-9]*: tux\(;.*\)*$/\1/p
		s/^tux: \(.* > .*\) fd [0-9]*: tcp, cpu-busy:.*/\1/p' |
		sort -u | wc -l
}

# all_settled N LOG...
all_settled()
{
	[ "$(settled "${@:2}")" = "$1" ]
}

# move_at_both CLIENT SERVER N: N connections of the client's log have moved,
# and N of the server's
move_at_both()
{
	[ "$(on_tux "$dir/$1.err") $(on_tux "$dir/$2.err")" = "$3 $3" ]
}

# browse N COMMAND...: wrk, on host a and by $words, asks with N connections
# until the command is true, and then goes on for a moment
browse()
{
	start wrk "${a[@]}" "${words[@]}" wrk -t 1 -c "$1" -d 600 \
		"http://$b_addr:$port/"
	wait_for 10 "${@:2}"
	sleep 0.5		# without it, Tux would carry little
	kill -INT "$pid"
	reap "$pid"
}
