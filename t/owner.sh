# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
#
# owner - the directory that a script works in: to which process it belongs, and
# how it goes, with all that runs there

# Ends what runs in $1, its subfolders too, and removes it, and the network
# namespaces and other directories that it lists.
sweep()
{
	local p try ns directory

	for try in TERM KILL KILL KILL; do
		local any=
		for p in /proc/[0-9]*; do
			case $(readlink "$p/cwd" 2>/dev/null) in
			"$1" | "$1"/*) kill -$try "${p#/proc/}" 2>/dev/null &&
				any=yes ;;
			esac
		done
		[ -n "$any" ] || break
		sleep 0.2
	done
	if [ -e "$1/namespaces" ]; then
		while read -r ns; do ip netns del "$ns"; done <"$1/namespaces"
	fi
	if [ -e "$1/directories" ]; then
		while read -r directory; do rm -rf "$directory"; done <"$1/directories"
	fi
	rm -rf "$1"
}

# own DIRECTORY: it belongs to this process; owned DIRECTORY: does the process
# that it belongs to live?  Its number alone may be that of another one by now.
own()
{
	echo "$$ $(since $$)" >"$1/owner"
}

since()
{
	awk '{ sub(/^.*\) /, ""); print $20 }' "/proc/$1/stat" 2>/dev/null
}

owned()
{
	local owner begin

	read -r owner begin <"$1/owner" && [ "$(since "$owner")" = "$begin" ]
}
