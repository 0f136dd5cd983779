#!/usr/bin/perl
# SPDX-License-Identifier: BSD-2-Clause
#
# figures_data - what bench/figures has noted in its directory, as one piece of JSON
#
#   figures_data.pl DIRECTORY
#
# "points" and "costs" have medians over the runs; 15, 16 and 18 have the rows of
# bench/interface, bench/loss and bench/preempt, by MTU.

use strict;
use warnings;
use JSON::PP;

my $dir = shift // die "usage: figures_data.pl DIRECTORY\n";
my @columns = qw(rate p50 p99 cpu short_p50 short_p99 long_p50 long_p99);

sub lines_of {
	my ($name) = @_;
	open my $f, '<', "$dir/$name" or return;
	my @lines = map { chomp; [split /\t/, $_, -1] } <$f>;
	return @lines;
}

sub median {
	my @v = sort { $a <=> $b } grep { defined && length } @_;
	return @v ? $v[$#v / 2] + 0 : undef;
}

sub points {
	my (%runs, @order);
	for (lines_of('runs')) {
		my ($key, @v) = (join("\t", @$_[0 .. 4]), @$_[5 .. 12]);
		push @order, $key unless $runs{$key};
		push @{$runs{$key}}, \@v;
	}
	return map {
		my $runs = $runs{$_};
		my %p;
		@p{qw(figure part mtu series x)} = split /\t/;
		$p{mtu} += 0;
		$p{x} += 0 if $p{x} =~ /^\d+$/;
		for my $c (0 .. $#columns) {
			my $m = median(map { $_->[$c] } @$runs);
			$p{$columns[$c]} = $m if defined $m;
		}
		$p{runs} = @$runs + 0;
		\%p;
	} @order;
}

# What a request costs in each part: figure, MTU, series, part, microseconds.
sub costs {
	my (%runs, @order);
	for (lines_of('costs')) {
		my $key = join "\t", @$_[0 .. 3];
		push @order, $key unless $runs{$key};
		push @{$runs{$key}}, $_->[4];
	}
	return map {
		my %c;
		@c{qw(figure mtu series part)} = split /\t/;
		$c{us} = median(@{$runs{$_}});
		\%c;
	} @order;
}

my %all = (
	machine => { map { $_->[0] => $_->[1] } lines_of('machine') },
	points => [points()],
	costs => [costs()],
);
opendir my $d, $dir or die "$dir: $!\n";
for my $file (sort readdir $d) {
	my ($figure, $mtu) = $file =~ /^(\d+)\.(\d+)\.json$/ or next;
	open my $f, '<', "$dir/$file" or next;
	my $rows = eval { decode_json(join '', <$f>) } or next;
	$all{$figure}{$mtu} = $rows;
}
print JSON::PP->new->canonical->pretty->encode(\%all);
