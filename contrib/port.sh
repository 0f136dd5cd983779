# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
#
# port - what the scripts that build a server with libtux have in common

tree=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

# begin DIRECTORY: goes there.  pkg-config finds this tree's libtux.a and tux.h
# there, and no shared library.
begin()
{
	local build=${TUX_BUILD:-$tree}

	[ -e "$build/.libs/libtux.a" ] || {
		echo "no libtux.a in $build/.libs: run make first" >&2
		exit 1
	}
	mkdir -p "$1/libtux"
	cd "$1"
	cp "$build/.libs/libtux.a" "$tree/include/tux.h" libtux
	sed "s|^libdir=.*|libdir=$PWD/libtux|
		s|^includedir=.*|includedir=$PWD/libtux|" "$build/tux.pc" \
		>libtux/tux.pc
	export PKG_CONFIG_PATH=$PWD/libtux
}

# fetch PACKAGE: Debian's source of it, in a directory of that name.  apt's own
# files stay as they are: it gets lists, and a file of sources, of its own.
fetch()
{
	local suite
	# shellcheck disable=SC1091 # it is the system's
	suite=$(. /etc/os-release && echo "$VERSION_CODENAME")
	local opts=(-qq -o APT::Sandbox::User=root
		-o Dir::State::lists="$PWD/apt/lists"
		-o Dir::Etc::sourcelist="$PWD/apt/sources.list"
		-o Dir::Etc::sourceparts=-)

	mkdir -p apt/lists/partial
	cat >apt/sources.list <<-END
		deb-src http://deb.debian.org/debian $suite main
		deb-src http://deb.debian.org/debian $suite-updates main
		deb-src http://deb.debian.org/debian-security $suite-security main
	END
	apt-get "${opts[@]}" update
	apt-get "${opts[@]}" --download-only source "$1"
	rm -r apt
	dpkg-source -x "$1"_*.dsc "$1" >/dev/null
}

# changed_lines PATCH: how many lines it adds and removes, in all files
changed_lines()
{
	grep -cE '^[-+]($|[^-+]|[-+]($|[^-+]))' "$1"
}
