#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# inetd - servers that hand each connection to a child or to a new program: rsync,
# git, socat and sshd, byte for byte

set -u
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

need rsync git socat
setup
export GIT_CONFIG_NOSYSTEM=1 HOME=$dir

many=$dir/many
mkdir -p "$many/small" "$dir/up"
for ((i = 1; i <= 100; i++)); do
	echo "$i $RANDOM" >"$many/small/$i"
done
head -c 3000000 /dev/urandom >"$many/big"

# as_well DIRECTORY: it holds what $many does.
as_well()
{
	diff -r "$many" "$1" >/dev/null
}

# ---- rsync -------------------------------------------------------------------

rsync_daemon()
{
	rm -rf "$dir/up" && mkdir "$dir/up" || return
	cat >"$dir/rsyncd.conf" <<-EOF
		use chroot = no
		uid = $(id -u)
		gid = $(id -g)
		[many]
		path = $many
		[up]
		path = $dir/up
		read only = no
	EOF
	serve rsyncd "$@" rsync --daemon --no-detach --config=rsyncd.conf \
		--address=127.0.0.1 --port=@PORT@
}

rsync_gets()
{
	rm -rf "$dir/got"
	run 60 "$@" rsync -a "rsync://127.0.0.1:$port/many/" got/ &&
		as_well "$dir/got"
}

rsync_puts()
{
	run 60 "$@" rsync -az many/ "rsync://127.0.0.1:$port/up/" &&
		as_well "$dir/up"
}

# ---- git ---------------------------------------------------------------------

repository()
{
	git init -q "$dir/all/one" && cp -r "$many" "$dir/all/one" &&
		git -C "$dir/all/one" config user.name tux &&
		git -C "$dir/all/one" config user.email tux@localhost &&
		git -C "$dir/all/one" add many &&
		git -C "$dir/all/one" commit -qm one
}

git_daemon()
{
	serve gitd "$@" git daemon --reuseaddr "--base-path=$dir/all" \
		--export-all --enable=receive-pack --listen=127.0.0.1 \
		--port=@PORT@
}

git_clones()
{
	rm -rf "$dir/clone"
	run 60 "$@" git clone -q "git://127.0.0.1:$port/one" clone &&
		as_well "$dir/clone/many"
}

# git_pushes NAME WORDS...
git_pushes()
{
	run 60 "${@:2}" git -C clone push -q origin "HEAD:refs/heads/$1" &&
		[ "$(git -C "$dir/all/one" rev-parse "$1")" = \
			"$(git -C "$dir/clone" rev-parse HEAD)" ]
}

# ---- socat -------------------------------------------------------------------

# socat_execs OPTIONS WORDS...: each connection becomes that of a cat.
socat_execs()
{
	serve socat "${@:2}" socat \
		TCP-LISTEN:@PORT@,bind=127.0.0.1,reuseaddr,fork "EXEC:cat$1"
}

socat_echoes()
{
	run 60 "$@" socat -t 20 - "TCP:127.0.0.1:$port" <"$many/big" \
		>"$dir/echo" && cmp "$many/big" "$dir/echo"
}

# ---- ssh ---------------------------------------------------------------------

keys()
{
	ssh-keygen -q -t ed25519 -N '' -f "$dir/host" &&
		ssh-keygen -q -t ed25519 -N '' -f "$dir/user" || return
	cat >"$dir/sshd_config" <<-EOF
		HostKey $dir/host
		AuthorizedKeysFile $dir/user.pub
		StrictModes no
		UsePAM no
		PidFile none
		PermitRootLogin yes
	EOF
	cat >"$dir/ssh" <<-EOF
		#!/bin/sh
		exec ssh -F none -p "\$SSH_PORT" -i "$dir/user" -o BatchMode=yes \\
			-o StrictHostKeyChecking=no -o LogLevel=ERROR \\
			-o UserKnownHostsFile=/dev/null "\$@"
	EOF
	chmod +x "$dir/ssh"
}

# sshd wants a directory that its service makes.  Where that has not run, it gets a
# /run of its own with it.
ssh_daemon()
{
	local in=()

	# shellcheck disable=SC2016 # the other shell's words
	[ -d /run/sshd ] || in=(unshare -m sh -c 'mount -t tmpfs none /run &&
		mkdir -m 755 /run/sshd && exec "$@"' sh)
	serve sshd "$@" "${in[@]}" "$sshd" -D -e -f "$dir/sshd_config" \
		-p @PORT@ -o ListenAddress=127.0.0.1 && export SSH_PORT=$port
}

ssh_gets()
{
	run 60 "$@" ./ssh 127.0.0.1 cat "$many/big" | cmp - "$many/big"
}

ssh_puts()
{
	run 60 "$@" ./ssh 127.0.0.1 "cat >$dir/put" <"$many/big" &&
		cmp "$many/big" "$dir/put"
}

ssh_rsyncs()
{
	rm -rf "$dir/got"
	run 60 "$@" rsync -a -e ./ssh "127.0.0.1:$many/" got/ &&
		as_well "$dir/got"
}

# ---- all ---------------------------------------------------------------------

# programs NAME WORDS...
programs()
{
	local name=$1

	shift
	rsync_daemon "$@" || cannot "no rsync daemon"
	check "$name: rsync gets" rsync_gets "$@"
	check "$name: rsync puts" rsync_puts "$@"
	check "$name: rsync without Tux gets" rsync_gets
	end "$pid"
	git_daemon "$@" || cannot "no git daemon"
	check "$name: git clones" git_clones "$@"
	check "$name: git pushes" git_pushes "$name" "$@"
	check "$name: git without Tux clones" git_clones
	end "$pid"
	socat_execs '' "$@" || cannot "no socat"
	check "$name: socat and a pipe to cat" socat_echoes "$@"
	end "$pid"
	socat_execs ,nofork "$@" || cannot "no socat"
	check "$name: socat becomes cat" socat_echoes "$@"
	end "$pid"
	[ -n "$sshd" ] || return
	ssh_daemon "$@" || cannot "no sshd"
	check "$name: ssh gets" ssh_gets "$@"
	check "$name: ssh puts" ssh_puts "$@"
	check "$name: rsync over ssh" ssh_rsyncs "$@"
	check "$name: ssh without Tux gets" ssh_gets
	end "$pid"
}

sshd=$(command -v sshd || true)
if [ -z "$sshd" ] || [ "$(id -u)" != 0 ]; then
	skip "ssh" "needs sshd, and root"
	sshd=
fi
[ -z "$sshd" ] || keys || cannot "no keys for ssh"
repository || cannot "no git repository"
if [ "${tux[0]}" = env ]; then
	programs tcp "${tux[@]}"
else
	programs inline "${tux[@]}" -m inline
	programs threads "${tux[@]}" -m threads=1
fi
finish
