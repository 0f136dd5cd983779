#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# pods - what tuxd(8) says of Kubernetes: the capabilities of the DaemonSet;
# a pod without any, with the preload object mounted read-only, in a network
# namespace of its own; and a network policy that lets no UDP pass

set -u
. "$(dirname "${BASH_SOURCE[0]}")/../../posix/lib.sh"
. "$(dirname "${BASH_SOURCE[0]}")/../net/hosts.sh"
. "$(dirname "${BASH_SOURCE[0]}")/../net/xdp.sh"

load=$build/t/posix/load object=$build/.libs/libtux-preload.so
need redis-server unshare "$load" "$object"
. "$(dirname "${BASH_SOURCE[0]}")/../net/cgroups.sh"
privilege "$@"
mounts "$@"
setup
two_cgroups
chmod 777 "$dir"

# ---- the DaemonSet ---------------------------------------------------------------

# loader CAPS: tuxd load of one host, as root with CAPS alone; the cgroups are
# mounted read-only
loader()
{
	setpriv --bounding-set "-all,$1" --inh-caps=-all --no-new-privs \
		"$tuxd" load --cgroup "$dir/cgroup/${cg_b##*/}" \
		--bpffs "$dir/bpf"
}

refused()
{
	! loader "$1"
}

mkdir "$dir/cgroup" && mount --bind "$tree" "$dir/cgroup" &&
	mount -o remount,bind,ro "$dir/cgroup" ||
	cannot "cannot mount the cgroups once more"
check "without CAP_BPF: refused" refused +net_admin,+perfmon
check "without CAP_NET_ADMIN: refused" refused +bpf,+perfmon
check "without CAP_PERFMON: refused" refused +bpf,+net_admin
check "with these three: loaded" loader +bpf,+net_admin,+perfmon
d load >"$dir/load.out" 2>&1 || cannot "$(cat "$dir/load.out")"
ok "loaded on both nodes"

# ---- pods --------------------------------------------------------------------------

# pod USER CGROUP: the words for a program in a pod: the object is at $dir/tux,
# read-only, and named by LD_PRELOAD
# shellcheck disable=SC2016 # for the other shell
pod()
{
	mkdir -p "$dir/tux" "$2/pod"
	words=(sh -c 'echo $$ >"$1/cgroup.procs" && shift && exec "$@"' pod
		"$2/pod" unshare -mC sh -c '
		mount -t tmpfs tmpfs "$0/tux" &&
		cp "$1" "$0/tux" &&
		mount -o remount,ro "$0/tux" &&
		! touch "$0/tux/x" 2>/dev/null && umount "$0/bpf" && shift &&
		exec "$@"' "$dir" "$object"
		setpriv --reuid "$1" --regid "$1" --clear-groups
		--bounding-set=-all --inh-caps=-all --no-new-privs
		env "LD_PRELOAD=$dir/tux/libtux-preload.so" TUX_IO=auto
		TUX_VERBOSE=1)
}

# The pods end, and their cgroups can go.
gone()
{
	rmdir "$cg_a/pod" "$cg_b/pod"
}

serves()
{
	free_port
	pod 65534 "$cg_b"
	start server "${b[@]}" "${words[@]}" redis-server --port "$port" \
		--bind $b_addr --save '' --protected-mode no
	server_pid=$pid
	wait_for 10 listening "$port"
}

asks()
{
	pod 65533 "$cg_a"
	start "$1" "${a[@]}" "${words[@]}" "$load" --host $b_addr \
		--port "$port" --conns 2 --size 100 --every 100
	client_pid=$pid
}

serves
asks pods
check "two pods: their connections move" wait_for 10 moved pods 2
check "... at the server, too" wait_for 10 moved server 2
check "... and work" goes_on pods
end "$client_pid"
end "$server_pid"

# ---- a network policy --------------------------------------------------------------

if "${a[@]}" ip rule add ipproto udp to $b_addr blackhole pref 1 2>/dev/null &&
	"${b[@]}" ip rule add ipproto udp to $a_addr blackhole pref 1; then
	serves
	asks policy
	check "no UDP passes: the client says so" \
		wait_for 10 said peer-silent policy
	check "... and works" goes_on policy
	end "$client_pid"
	end "$server_pid"
else
	skip "no UDP passes" "this kernel has no such rules"
fi
check "the pods leave nothing" wait_for 10 gone
umount "$dir/cgroup"
finish
