#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# files - callbacks that read from a slow disk do not stop the others: a disk
# that reads a hundred pages a second (a limit of a cgroup), and answers that
# need none of them

set -u
. "$(dirname "${BASH_SOURCE[0]}")/../../posix/lib.sh"

reads_per_s=100
group=
added=			# a tree to which the controller of disks was added

# limit: sets $group, a cgroup that reads so much from the disk of $dir
limit()
{
	local tree disk

	disk=$(stat -c %Hd:%Ld "$dir")
	[ ! -e "/sys/dev/block/$disk/partition" ] ||
		disk=$(cat "/sys/dev/block/$disk/../dev")
	tree=$(findmnt -rnt cgroup -O blkio -o TARGET | head -n 1)
	if [ -n "$tree" ]; then
		group=$tree/tux-$$-files
		mkdir "$group" && echo "$disk $reads_per_s" \
			>"$group/blkio.throttle.read_iops_device"
		return
	fi
	tree=$(findmnt -rnt cgroup2 -o TARGET | head -n 1)
	[ -n "$tree" ] && grep -qw io "$tree/cgroup.controllers" || return
	group=$tree/tux-$$-files
	grep -qw io "$tree/cgroup.subtree_control" ||
		{ echo +io >"$tree/cgroup.subtree_control" && added=$tree; }
	mkdir "$group" && echo "$disk riops=$reads_per_s" >"$group/io.max"
}

unlimit()
{
	tidy
	[ ! -d "$group" ] || wait_for 10 rmdir "$group"
	[ -z "$added" ] || echo -io >"$added/cgroup.subtree_control"
} 2>/dev/null

# column N ROW: of what bench/files has printed
column()
{
	sed -n "s/^  $2  *//p" "$dir/files.out" | awk -v n="$1" '{ print $n }'
}

# within A B RATIO: is B at most so many times A?
within()
{
	awk -v a="$1" -v b="$2" -v r="$3" \
		'BEGIN { exit !(a > 0 && b <= a * r) }'
}

need "$build/bench/files" findmnt
setup
trap unlimit EXIT
limit 2>/dev/null || cannot "cannot limit the disk of $dir by a cgroup"
# shellcheck disable=SC2016 # for the other shell
start files bash -c 'echo $$ >"$1/cgroup.procs" && exec "$2" --seconds 5 file' \
	bash "$group" "$build/bench/files"
reap "$pid" 120
same "it measures" 0 $?
sed 's/^/# /' "$dir/files.out"
alone=$(column 2 alone) beside=$(column 2 'beside tux_pread()')
check "pages were read beside" [ "$(column 3 'beside tux_pread()')" -gt 100 ]
check "answers do not wait for it: p99 $alone us, beside reads $beside us" \
	within "$alone" "$beside" 3
stopped=$(column 2 'beside pread()')
check "they do with pread(): p99 $stopped us" within "$stopped" 1000 1
finish
