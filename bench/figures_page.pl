#!/usr/bin/perl
# SPDX-License-Identifier: BSD-2-Clause
#
# figures_page - a page with plots, of the JSON of bench/figures
#
#   figures_page.pl <JSON >HTML
#
# Each plot has the paper's claim beside what was measured.

use strict;
use warnings;
use JSON::PP;
use List::Util qw(max min sum0);

my $all = decode_json(join '', <STDIN>);
my %look = (
	'kernel' => ['kernel TCP', '#8a8a8a'],
	'kernel-spin' => ['kernel TCP, the client spins', '#4d4d4d'],
	'tux-inline' => ['drop-in', '#1f77b4'],
	'tux-threads' => ['drop-in, network thread', '#7fb8e0'],
	'tux-linked' => ['pushdown, stream', '#d95f02'],
	'tux-none' => ['no pushdown (drop-in)', '#1f77b4'],
	'tux-stream' => ['pushdown, stream', '#d95f02'],
	'tux-messages' => ['pushdown, messages', '#2c9c4a'],
	'tux-complete' => ['complete pushdown', '#c03a3a'],
	'tux-selective-1' => ['selective, groups of 1', '#8f63b8'],
	'tux-selective-32' => ['selective, groups of 32', '#2c9c4a'],
	'kernel-busy' => ['kernel TCP, the client spins', '#8a8a8a'],
	'tux-selective-1ms' => ['the same, slices of 1 ms', '#1d6b33'],
	'unordered' => ['messages without order', '#2c9c4a'],
	'ordered' => ['messages in order', '#8f63b8'],
	'kernel-tcp' => ['kernel TCP', '#8a8a8a'],
	'messages' => ['messages without order', '#2c9c4a'],
	'stream' => ['stream', '#d95f02'],
);
my @series = qw(kernel kernel-spin kernel-busy tux-inline tux-threads tux-none tux-linked
	tux-stream tux-messages tux-complete tux-selective-1 tux-selective-32 tux-selective-1ms);

# ---- data --------------------------------------------------------------------

sub points {
	my (%want) = @_;
	return grep {
		my $p = $_;
		!grep { ($p->{$_} // '') ne $want{$_} } keys %want
	} @{$all->{points}};
}

sub mtus { my ($figure) = @_; my %m; $m{$_->{mtu}} = 1 for points(figure => $figure);
	return sort { $a <=> $b } keys %m }

sub number {
	my ($v) = @_;
	return '-' unless defined $v;
	return sprintf $v == int $v ? '%d' : '%.1f', $v if $v < 10;
	my $n = sprintf '%.0f', $v;
	1 while $n =~ s/^(\d+)(\d{3})/$1,$2/;
	return $n;
}

sub percent { my ($new, $old) = @_;
	return '?' unless defined $new && $old;
	return sprintf '%+.0f %%', 100 * ($new / $old - 1) }

# ---- SVG -----------------------------------------------------------------------

sub text {
	my ($x, $y, $t, %o) = @_;
	my $anchor = $o{anchor} // 'middle';
	my $size = $o{size} // 12;
	my $turn = $o{turn} ? " transform=\"rotate(-90 $x $y)\"" : '';
	$t =~ s/&/&amp;/g;
	$t =~ s/</&lt;/g;
	return "<text x=\"$x\" y=\"$y\" text-anchor=\"$anchor\" font-size=\"$size\"$turn>"
		. "$t</text>\n";
}

sub svg {
	my ($w, $h, $body) = @_;
	return "<svg viewBox=\"0 0 $w $h\" width=\"$w\" height=\"$h\" "
		. "role=\"img\">\n$body</svg>\n";
}

# Round values for an axis from 0, or 1, 2 and 5 times powers of ten.
sub ticks {
	my ($low, $high, $log) = @_;
	if ($log) {
		my @t;
		for my $e (-1 .. 8) {
			push @t, grep { $_ >= $low && $_ <= $high }
				map { $_ * 10 ** $e } 1, 2, 5;
		}
		return @t;
	}
	my $step = 10 ** int(log(($high || 1) / 2) / log(10));
	$step *= 2 while $high / $step > 6;
	return map { $_ * $step } 0 .. int($high / $step + 0.001);
}

sub legend {
	my ($x, $y, @names) = @_;
	my $s = '';
	for (@names) {
		my ($name, $color) = @{$look{$_} // [$_, '#555']};
		$s .= "<rect x=\"$x\" y=\"" . ($y - 9) . "\" width=\"11\" height=\"11\" "
			. "fill=\"$color\"/>\n" . text($x + 16, $y, $name,
				anchor => 'start');
		$y += 17;
	}
	return $s;
}

# lines TITLE, X, Y, LOG, { SERIES => [[x, y], ...] }
sub lines {
	my ($title, $xname, $yname, $log, $data) = @_;
	my ($w, $h, $l, $r, $t, $b) = (430, 300, 62, 14, 28, 44);
	if ($log) {
		$_ = [grep { $_->[1] > 0 } @$_] for values %$data;
	}
	my @all = map { @$_ } values %$data or return '';
	my $xmax = 1.05 * max(map { $_->[0] } @all);
	my $ymax = 1.15 * max(map { $_->[1] } @all);
	my $ymin = $log ? 0.85 * min(map { $_->[1] } @all) : 0;
	my $px = sub { $l + ($w - $l - $r) * $_[0] / $xmax };
	my $py = sub {
		my $v = $log ? log($_[0] / $ymin) / log($ymax / $ymin) :
			$_[0] / $ymax;
		return $h - $b - ($h - $t - $b) * $v;
	};
	my $s = text($w / 2, 16, $title, size => 13);
	for (ticks($ymin, $ymax, $log)) {
		my $y = sprintf '%.1f', $py->($_);
		$s .= "<line x1=\"$l\" x2=\"" . ($w - $r) . "\" y1=\"$y\" y2=\"$y\" "
			. "class=\"grid\"/>\n" . text($l - 6, $y + 4, number($_),
				anchor => 'end', size => 11);
	}
	for (ticks(0, $xmax)) {
		$s .= text(sprintf('%.1f', $px->($_)), $h - $b + 16, number($_),
			size => 11);
	}
	$s .= text(($l + $w - $r) / 2, $h - 8, $xname)
		. text(15, ($h - $b + $t) / 2, $yname, turn => 1);
	for my $name (sort keys %$data) {
		my $color = ($look{$name} // ['', '#555'])->[1];
		my @p = map { sprintf '%.1f,%.1f', $px->($_->[0]), $py->($_->[1]) }
			@{$data->{$name}};
		$s .= "<polyline points=\"@p\" fill=\"none\" stroke=\"$color\" "
			. "stroke-width=\"2\"/>\n";
		$s .= join '', map {
			my ($x, $y) = split /,/;
			"<circle cx=\"$x\" cy=\"$y\" r=\"3\" fill=\"$color\"/>\n"
		} @p;
	}
	return svg($w, $h, $s);
}

# bars TITLE, UNIT, [GROUP...], { SERIES => { GROUP => value } }, ORDER
sub bars {
	my ($title, $unit, $groups, $data, @order) = @_;
	my ($w, $h, $l, $t, $bottom) = (430, 260, 20, 28, 26);
	my $gw = ($w - 2 * $l) / @$groups;
	my $bw = 0.82 * $gw / (@order || 1);
	my $s = text($w / 2, 16, $title . ($unit ? ", $unit" : ''), size => 13);
	for my $g (0 .. $#$groups) {
		# Each group has a scale of its own.
		my $top = max(map { $data->{$_}{$groups->[$g]} // 0 } @order) || 1;
		for my $i (0 .. $#order) {
			my $v = $data->{$order[$i]}{$groups->[$g]} // next;
			my $color = ($look{$order[$i]} // ['', '#555'])->[1];
			my $x = sprintf '%.1f', $l + $gw * ($g + 0.09) + $bw * $i;
			my $len = sprintf '%.1f', ($h - $t - $bottom - 22) * $v / $top;
			my $y = sprintf '%.1f', $h - $bottom - $len;
			$s .= sprintf "<rect x=\"%s\" y=\"%s\" width=\"%.1f\" "
				. "height=\"%s\" fill=\"%s\"/>\n", $x, $y,
				$bw - 2, $len, $color;
			$s .= text(sprintf('%.1f', $x + $bw / 2 - 1), $y - 4,
				number($v), size => 10);
		}
		$s .= text(sprintf('%.1f', $l + $gw * ($g + 0.5)), $h - 8,
			$groups->[$g]);
	}
	return svg($w, $h, $s);
}

# ---- figures -----------------------------------------------------------------------

my $page = '';

sub section {
	my ($n, $title, $claim, $measured, $missing, @plots) = @_;
	$page .= "<section id=\"f$n\">\n<h2>Figure $n: $title</h2>\n"
		. "<dl><dt>The paper</dt><dd>$claim</dd>\n"
		. "<dt>Here</dt><dd>$measured</dd>\n"
		. ($missing ? "<dt>Not shown</dt><dd>$missing</dd>\n" : '')
		. "</dl>\n<div class=\"plots\">\n" . join('', @plots)
		. "</div>\n</section>\n";
}

sub key {
	my @names = @_;
	return svg(230, 20 + 17 * @names, legend(8, 18, @names));
}

sub present {
	my ($figure) = @_;
	my %there = map { $_->{series} => 1 } points(figure => $figure);
	return grep { $there{$_} } @series;
}

# A value at @rate, where a series reaches that first as x grows.
sub at_rate {
	my ($rate, $what, @p) = @_;
	my ($x, $y);
	for (sort { $a->{x} <=> $b->{x} } @p) {
		return $_->{$what} if !defined $x && $_->{rate} >= $rate;
		return $y + ($_->{$what} - $y) * ($rate - $x) / ($_->{rate} - $x)
			if $_->{rate} >= $rate;
		($x, $y) = ($_->{rate}, $_->{$what});
	}
	return undef;
}

sub gain_at_90 {
	my ($mtu, $name) = @_;
	my %w = (figure => 9, part => 'get', mtu => $mtu);
	my @k = points(%w, series => 'kernel') or return '';
	my @t = points(%w, series => $name) or return '';
	my $most = max(map { $_->{rate} } @k);
	my $s = sprintf 'MTU %d: %s has %.2f × the peak of kernel TCP; at 90 %% of that',
		$mtu,
		$look{$name}[0], max(map { $_->{rate} } @t) / $most;
	for my $q ('p50', 'p99') {
		my ($k, $v) = map { at_rate(0.9 * $most, $q, @$_) } \@k, \@t;
		$s .= sprintf ', %s %s instead of %s µs', $q, number($v),
			number($k) if $k && $v;
	}
	return "$s. ";
}

sub rate_lines {
	my ($figure, $part, $mtu, $what, $title, $unit) = @_;
	my %d;
	for my $name (present($figure)) {
		# Of a client that spins, that is a whole core.
		next if $what eq 'cpu' && $name eq 'kernel-spin';
		my @p = sort { $a->{x} <=> $b->{x} } points(figure => $figure,
			part => $part, mtu => $mtu, series => $name);
		$d{$name} = [map { [$_->{rate} / 1000, $_->{$what}] } @p] if @p;
	}
	return lines("$title, MTU $mtu", 'thousand requests/s', $unit,
		$what ne 'cpu', \%d);
}

sub figure_9 {
	my @m = mtus(9) or return;
	section(9, 'Redis, GET of 1 KB on 1 to 128 connections',
		'Drop-in has 2.47 × the throughput of Linux. At 90 % of what Linux '
		. 'reaches, pushdown lowers the p50 by 4.1 × and the p99 by 5.25 ×.',
		join('', map { my $m = $_;
			map { gain_at_90($m, $_) } qw(tux-inline tux-linked) } @m),
		'The paper\'s client runs on TAS and has a machine of its own; here '
		. 'both ends have one core of the same machine.',
		key(present(9)), map { my $m = $_;
			(rate_lines(9, 'get', $m, 'p50', 'p50', 'µs'),
			 rate_lines(9, 'get', $m, 'p99', 'p99', 'µs')) } @m);
}

sub figure_13 {
	my @m = mtus(13) or return;
	my $said = join '', map { my $m = $_;
		my %at = map { $_->{series} => $_ } points(figure => 13,
			part => 'open', mtu => $m, x => 90);
		my ($k, $t) = @at{'kernel', 'tux-linked'};
		$k && $t ? sprintf('MTU %d, at 90 %% of the peak of kernel TCP: '
			. 'pushdown has a p99 of %s µs (kernel %s), and takes '
			. '%.1f µs of processor for a request (kernel %.1f). ', $m,
			number($t->{p99}), number($k->{p99}), $t->{cpu},
			$k->{cpu}) : '' } @m;
	section(13, 'Memcached',
		'With auto-scaling, pushdown has 2.18 × the throughput of Linux; at '
		. '90 % of what Linux reaches, its p99 is 4.19 × lower, and it uses '
		. '73 % less of the processors.', $said,
		'Auto-scaling and eight worker threads: here the server has one core.',
		key(present(13)), map { my $m = $_;
			(rate_lines(13, 'open', $m, 'p99', 'p99', 'µs'),
			 rate_lines(13, 'open', $m, 'cpu', 'both ends', 'µs of CPU'))
		} @m);
}

sub kv_bars {
	my ($figure, $part, $mtu, $title, @what) = @_;
	my (%d, @groups);
	for my $what (@what) {
		(my $g = $what) =~ tr/_/ /;
		push @groups, $g;
		$d{$_->{series}}{$g} = $_->{$what} for points(figure => $figure,
			part => $part, mtu => $mtu, x => 'open');
	}
	my ($one) = points(figure => $figure, part => $part, mtu => $mtu, x => 'open');
	my $rate = $one ? ' at ' . number($one->{rate}) . '/s' : '';
	return bars("$title$rate, MTU $mtu", 'µs', \@groups, \%d,
		present($figure));
}

sub change {
	my ($figure, $part, $mtu, $new, $old, @what) = @_;
	my %w = (figure => $figure, part => $part, mtu => $mtu, x => 'open');
	my ($n) = points(%w, series => $new) or return '';
	my ($o) = points(%w, series => $old) or return '';
	return join ', ', map { (my $q = $_) =~ tr/_/ /;
		"$q " . percent($n->{$_}, $o->{$_}) } @what;
}

sub figure_14 {
	my @m = mtus(14) or return;
	my $said = '';
	for my $m (@m) {
		for my $w ('YCSB-C', 'YCSB-F') {
			$said .= "MTU $m, $w: stream against no pushdown: "
				. change(14, $w, $m, 'tux-stream', 'tux-none',
					'p50', 'p99')
				. '; messages against the stream: '
				. change(14, $w, $m, 'tux-messages', 'tux-stream',
					'p50', 'p99') . '. ';
		}
	}
	section(14, 'YCSB as stored procedures',
		'The stream against no pushdown: p50 &minus;11 % (YCSB-C) and &minus;31 % '
		. '(YCSB-F). Messages: &minus;22 % and &minus;16 % more. p99 up to '
		. '&minus;70 % in all.', $said,
		'A core for each thread: without pushdown, the server\'s three threads '
		. 'share one core here, and a part of the gain comes from that. The '
		. 'engine is LMDB, not LeanStore.',
		key(present(14)), map { my $m = $_;
			map { kv_bars(14, $_, $m, $_, 'p50', 'p99') }
				'YCSB-C', 'YCSB-F' } @m);
}

sub figure_17 {
	my @m = mtus(17) or return;
	my @q = qw(short_p50 short_p99 long_p50 long_p99);
	my $said = join '', map { my $m = $_;
		"MTU $m, selective in groups of 32: against no pushdown "
		. change(17, 'TPC-C', $m, 'tux-selective-32', 'tux-none', @q)
		. '; against complete pushdown '
		. change(17, 'TPC-C', $m, 'tux-selective-32', 'tux-complete', @q)
		. '; with slices of 1 ms, against no pushdown '
		. change(17, 'TPC-C', $m, 'tux-selective-1ms', 'tux-none', @q)
		. '. ' } @m;
	section(17, 'TPC-C, short and long transactions',
		'Selective pushdown in groups of 32: short transactions have a p50 lower '
		. 'by 30 % and a p99 lower by 52 % than without pushdown, and by 57 % '
		. 'and 69 % than with complete pushdown; long ones are 8 % faster than '
		. 'without.', $said,
		'A core for each thread: here the workers and the network thread share '
		. 'one, so a long transaction takes time from the short ones wherever '
		. 'it runs. The engine is LMDB, with one writer, and Delivery is ten '
		. 'transactions.',
		key(present(17)), map { my $m = $_;
			(kv_bars(17, 'TPC-C', $m, 'short', @q[0, 1]),
			 kv_bars(17, 'TPC-C', $m, 'long', @q[2, 3])) } @m);
}

# stacked TITLE, [[PART, colour]...], [GROUP, [[BAR, [value of each part]]...]]...
sub stacked {
	my ($title, $parts, @groups) = @_;
	my ($w, $h, $l, $t, $bottom) = (430, 300, 20, 28, 68);
	my $s = text($w / 2, 16, $title, size => 13);
	my $gw = ($w - 2 * $l) / (@groups || 1);
	for my $g (0 .. $#groups) {
		my ($name, $bars) = @{$groups[$g]};
		# Each group has a scale of its own.
		my $top = max(map { sum0(@{$_->[1]}) } @$bars) || 1;
		my $bw = 0.86 * $gw / @$bars;
		for my $i (0 .. $#$bars) {
			my ($bar, $v) = @{$bars->[$i]};
			my $x = sprintf '%.1f', $l + $gw * ($g + 0.07) + $bw * $i;
			my $y = $h - $bottom;
			for my $p (0 .. $#$parts) {
				my $len = ($h - $t - $bottom - 16) * $v->[$p] / $top;
				$y -= $len;
				$s .= sprintf "<rect x=\"%s\" y=\"%.1f\" "
					. "width=\"%.1f\" height=\"%.1f\" "
					. "fill=\"%s\"/>\n", $x, $y, $bw - 2,
					$len, $parts->[$p][1];
			}
			my $mid = sprintf '%.1f', $x + $bw / 2 - 1;
			$s .= text($mid, sprintf('%.1f', $y - 4),
				number(sum0(@$v)), size => 10)
				. text($mid, $h - $bottom + 13, $bar, size => 9);
		}
		$s .= text(sprintf('%.1f', $l + $gw * ($g + 0.5)),
			$h - $bottom + 30, $name);
	}
	my ($x, $y) = ($l, $h - 24);
	for (@$parts) {
		my $len = 26 + 6.5 * length $_->[0];
		($x, $y) = ($l, $y + 16) if $x + $len > $w;
		$s .= "<rect x=\"$x\" y=\"" . ($y - 9) . "\" width=\"11\" height=\"11\" "
			. "fill=\"$_->[1]\"/>\n" . text($x + 15, $y, $_->[0],
				anchor => 'start', size => 11);
		$x += $len;
	}
	return svg($w, $h, $s);
}

sub stacks {
	my ($title, $rows) = @_;
	my @part = ([packets => '#6b8fb5'], ['running callbacks' => '#d9a441'],
		[callbacks => '#7a9c5a']);
	my %short = (messages => 'msg', ordered => 'ord', stream => 'str');
	my @sizes = sort { $a <=> $b } keys %{{map { $_->{size} => 1 } @$rows}};
	return stacked("$title, ns for a request", \@part, map {
		my $size = $_;
		["$size B", [map { [$short{$_->{interface}}, [@$_{
			qw(network_ns runtime_ns callback_ns)}]] }
			grep { $_->{size} == $size } @$rows]]
	} @sizes);
}

sub figure_15 {
	my $f = $all->{15} or return;
	my $said = '';
	for my $m (sort { $a <=> $b } keys %$f) {
		my %ns;
		$ns{$_->{size}}{$_->{interface}} = $_->{ns} for @{$f->{$m}};
		$said .= "MTU $m, the stream against messages: " . join(', ', map {
			sprintf '%s B %.2f ×', $_,
				$ns{$_}{stream} / $ns{$_}{messages}
		} grep { $ns{$_}{stream} && $ns{$_}{messages} }
			sort { $a <=> $b } keys %ns) . '. ';
	}
	section(15, 'what a request costs, by the way it is delivered',
		'A stream costs up to 1.96 × the message, which needs no parsing and no '
		. 'copy; order costs nearly nothing.', $said, '',
		map { stacks("MTU $_", $f->{$_}) } sort { $a <=> $b } keys %$f);
}

sub figure_16 {
	my $f = $all->{16}{1500} or return;
	my @losses = sort { $a <=> $b } keys %{{map { $_->{loss_percent} => 1 } @$f}};
	my @contenders = ('kernel-tcp', 'ordered', 'unordered');
	my $said = join '', map { my $l = $_;
		my %r = map { $_->{contender} => $_ }
			grep { $_->{loss_percent} == $l } @$f;
		my ($u, $o) = @r{'unordered', 'ordered'};
		$u && $o ? "$l % loss, without order against in order: p50 "
			. percent($u->{p50_us}, $o->{p50_us}) . ', p90 '
			. percent($u->{p90_us}, $o->{p90_us}) . ', p99 '
			. percent($u->{p99_us}, $o->{p99_us}) . '. ' : '' } @losses;
	section(16, 'latency one way, while packets are lost',
		'Without order, messages have a p50 / p90 / p99 lower by 42.5 / 39.2 / '
		. '34.1 % at 1 % loss, and a p50 / p99 lower by 11.1 / 23.7 % at 0.1 %.',
		$said, '', key(@contenders), map { my $q = $_;
			my %d;
			$d{$_->{contender}}{"$_->{loss_percent} %"} = $_->{"${q}_us"}
				for @$f;
			bars("$q by loss", 'µs', [map { "$_ %" } @losses], \%d, @contenders)
		} 'p50', 'p99');
}

sub slice_lines {
	my ($title, $unit, $what, $log, $look, @r) = @_;
	return lines($title, 'slice, µs', $unit, $log,
		{ $look => [map { [$_->{slice_us}, $what->($_)] } @r] });
}

sub figure_18 {
	my $f = $all->{18}{1500} or return;
	my @r = sort { $a->{slice_us} <=> $b->{slice_us} } @$f;
	my ($short) = sort { abs($a->{slice_us} - 65) <=> abs($b->{slice_us} - 65) } @r;
	my ($first, $long) = @r[0, -1];
	my ($half) = grep { $_->{slice_us} == 500 } @r or return;
	my $said = sprintf 'The p99 of GET is %s µs with slices of %d µs, and %s µs with '
		. '%d µs: %.1f × lower. Slices of %d µs have a throughput lower by '
		. '%.0f %% than %d µs.', number($short->{get_p99_us}),
		$short->{slice_us}, number($long->{get_p99_us}), $long->{slice_us},
		$long->{get_p99_us} / $short->{get_p99_us}, $first->{slice_us},
		100 * (1 - $first->{most_per_s} / $half->{most_per_s}), 500;
	section(18, 'time slices',
		'With 65 µs slices the p99 of GET is 2.5 × lower than with 1 ms; with 5 µs '
		. 'the throughput is 40 % lower than with 500 µs.', $said,
		'The network: callbacks run over a table in memory, in one process.',
		slice_lines('throughput', 'thousand/s',
			sub { $_[0]{most_per_s} / 1000 }, 0, 'stream', @r),
		slice_lines('p99 of GET', 'µs', sub { $_[0]{get_p99_us} }, 1,
			'messages', @r),
		slice_lines('p99 of SCAN', 'µs', sub { $_[0]{scan_p99_us} }, 1,
			'ordered', @r));
}

# ---- where the time goes ------------------------------------------------------------

my @cost_parts = (['driver' => '#6b8fb5'], ['stack' => '#d9a441'], ['copy' => '#b5651d'],
	['kernel' => '#9a9a9a'], ['application' => '#7a9c5a'], ['idle' => '#e4e4e4']);
my %cost_name = ('kernel' => 'kernel', 'kernel-spin' => 'client spins',
	'tux-inline' => 'drop-in', 'tux-threads' => 'its thread',
	'tux-linked' => 'pushdown', 'uring' => 'io_uring', 'raw' => 'raw AF_XDP',
	'tux-stream' => 'Tux, stream', 'tux-messages' => 'Tux, messages');

sub costs {
	my ($figure, $times) = @_;
	my (%c, @order);
	for (grep { $_->{figure} eq $figure } @{$all->{costs}}) {
		push @order, $_->{series} unless $c{$_->{series}};
		$c{$_->{series}}{$_->{part}} = $_->{us} * $times;
	}
	return (\%c, @order);
}

sub cost_bars {
	my ($title, $c, @order) = @_;
	return stacked($title, \@cost_parts, ['', [map { my $s = $_;
		[$cost_name{$s}, [map { $c->{$s}{$_->[0]} // 0 } @cost_parts]]
	} @order]]);
}

my $parts_text = 'Parts are told apart by the names of functions that perf samples: the '
	. 'driver with what XDP and the veth do, the stack (of the kernel, or libtux), '
	. 'copies, the rest of the kernel, and the application.';

sub figure_10 {
	my ($c, @order) = costs(10, 1);
	return unless @order;
	my @rows;
	for (qw(kernel tux-inline tux-linked)) {
		my $v = $c->{$_} or next;
		my $sum = sum0(map { $v->{$_->[0]} // 0 } @cost_parts[0 .. 4]);
		push @rows, "<tr><td>$look{$_}[0]</td>" . join('', map {
			sprintf '<td>%.2f µs, %.0f %%</td>', $v->{$_->[0]} // 0,
				100 * ($v->{$_->[0]} // 0) / $sum
		} @cost_parts[0 .. 4]) . sprintf("<td>%.2f µs</td></tr>\n", $sum);
	}
	section(10, 'where the time of a Redis GET goes on the server',
		'At 50,000 requests/s, pushdown has the lowest latency on the server, 18 % '
		. 'below F-Stack.', "At full load, 32 connections, MTU 1500. $parts_text",
		'50,000 requests/s: a thread that polls cannot tell waiting from work.',
		cost_bars('µs for a request', $c, @order));
	section('2.4', 'the same as a table', 'Over F-Stack and DPDK the driver takes '
		. '0.27 µs (7 %), the TCP stack 1.51 µs (41 %), the GET 1.91 µs (52 %).',
		"<table><tr><th></th>" . join('', map { "<th>$_->[0]</th>" }
			@cost_parts[0 .. 4]) . "<th>sum</th></tr>\n@rows</table>",
		'DPDK. The interface here is a veth, where the sender also runs the '
		. 'receiver\'s part of the driver.');
}

sub figure_w1 {
	my $mhz = $all->{machine}{mhz} || 1000;
	my ($c, @order) = costs('w1', $mhz);
	return unless @order;
	section('w1', 'what a message of 64 bytes costs (figure 1 of &ldquo;A Wake-Up Call '
		. 'for Kernel-Bypass on Modern Hardware&rdquo;)',
		'Kernel stacks, io_uring among them, take at least 4,000 cycles for a '
		. 'message of 64 bytes; DPDK takes 40.', join(', ', map { my $s = $_;
			"$cost_name{$s} " . number(sum0(map { $c->{$s}{$_->[0]} // 0 }
				@cost_parts)) } @order) . " cycles at $mhz MHz, received "
		. "and sent back, 32 connections. $parts_text",
		'DPDK and RDMA. On a veth, the kernel takes some 2.5 µs for each packet, '
		. 'also for one of raw AF_XDP.',
		cost_bars('cycles for a message', $c, @order));
}

# ---- the page ------------------------------------------------------------------------

figure_9();
figure_10();
figure_13();
figure_14();
figure_15();
figure_16();
figure_17();
figure_18();
figure_w1();
my $m = $all->{machine};
my $runs = $m->{runs} == 1 ? 'one run' : "medians of $m->{runs} runs";
my $quick = $m->{quick} eq 'yes' ? ', by bench/figures --quick' : '';
print <<END;
<!DOCTYPE html>
<!-- SPDX-License-Identifier: BSD-2-Clause -->
<html lang="en">
<meta charset="utf-8">
<title>libtux: the figures of the paper</title>
<style>
body { font: 15px/1.5 sans-serif; max-width: 960px; margin: 2em auto; padding: 0 1em;
	color: #222; background: #fff }
h1 { font-size: 1.6em } h2 { font-size: 1.2em; margin-top: 2.2em }
dt { font-weight: bold; float: left; width: 6.5em } dd { margin: 0 0 .4em 6.5em }
.plots { display: flex; flex-wrap: wrap; gap: 12px } svg { background: #fafafa }
table { border-collapse: collapse } td, th { padding: 2px 10px 2px 0; text-align: left }
.grid { stroke: #ddd } svg text { fill: #333 }
</style>
<h1>The figures of the paper, on this machine</h1>
<p>&ldquo;Tux: Efficient Drop-in Networking for Database Systems&rdquo;, PVLDB 19(3). A
client on one core asks a server on another, between two network namespaces, over AF_XDP
on a veth, in copy mode. Measured $m->{date} by commit $m->{commit}: $runs$quick.
$m->{cpu}, $m->{processors} processors, $m->{memory}, Linux $m->{kernel}. Latencies at a
rate count from the instant at which a request was due. Each group of bars has a scale of
its own.</p>
$page</html>
END
