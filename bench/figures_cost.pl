#!/usr/bin/perl
# SPDX-License-Identifier: BSD-2-Clause
#
# figures_cost - to which part of a request samples of a server's core belong
#
#   perf report ... --sort comm,dso,sym | figures_cost.pl RATE LIBTUX.A
#
# Prints a line PART MICROSECONDS for each part, for one request at RATE a second:
# driver, stack (of the kernel, or libtux), copy, kernel (system calls, scheduling),
# application, idle.

use strict;
use warnings;

my ($rate, $library) = @ARGV;
my %ours;			# functions of libtux, where it is linked in
if (open my $nm, '-|', 'nm', '--defined-only', $library // '/dev/null') {
	while (<$nm>) {
		$ours{$1} = 1 if /^[0-9a-f]+ [tT] (\w+)/;
	}
}

my $driver = qr/^(veth_|xsk_|xp_|__xsk|xdp_|__xdp|bpf_|__bpf|page_pool|__page_pool|
	skb_pp|dev_direct|__dev_direct|napi_|__napi|net_rx|net_tx|netif_|__netif|
	dev_hard|__dev_queue|dev_queue|sch_direct|validate_xmit|page_frag|
	generic_xdp|do_xdp|xskq|process_backlog)/x;
my $stack = qr/^(tcp_|__tcp|ip_|__ip|ip4|ipv4|inet|__inet|sock_|__sock|sk_|__sk|skb_|
	__skb|nf_|fib_|neigh|dst_|udp|ep_|do_epoll|__alloc_skb|kfree_skb|
	__kfree_skb|__build_skb|kmem_cache|kmalloc|__kmalloc|kfree|__copy_skb|
	release_sock|lock_sock|mod_timer|loopback|__sys_recv|__sys_send|
	__x64_sys_send|__x64_sys_recv|unix|sockfd|security|apparmor)/x;
my $copy = qr/copy_user|copy_to_iter|copy_from_iter|rep_movs|copyin|copyout|
	memcpy|memmove|csum_partial/x;

sub part_of {
	my ($comm, $dso, $sym) = @_;
	my ($where, $name) = $sym =~ /^\[(.)\] (.*)/ ? ($1, $2) : ('.', $sym);
	$name =~ s/\..*//;		# of gcc: .part.0 and the like
	return 'idle' if $comm =~ /^swapper/;
	return 'copy' if $name =~ $copy;
	if ($where eq 'k' || $dso =~ /kernel/) {
		return 'driver' if $name =~ $driver;
		return 'stack' if $name =~ $stack;
		return 'kernel';
	}
	return 'stack' if $dso =~ /^libtux/ || $ours{$name};
	return 'application';
}

my %share;
while (<STDIN>) {
	chomp;
	s/^\s+//;
	my ($percent, @rest) = map { s/^\s+|\s+$//gr } split /\t/;
	next unless @rest == 3 && $percent =~ /^([\d.]+)%$/;
	next if $rest[0] =~ /^perf/;
	$share{part_of(@rest)} += $1;
}
for (qw(driver stack copy kernel application idle)) {
	printf "%s %.4f\n", $_, ($share{$_} // 0) / 100 * 1e6 / $rate if $rate > 0;
}
