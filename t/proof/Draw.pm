# SPDX-License-Identifier: BSD-2-Clause
#
# Draw - the mutants: where one can be, which a seed decides on, which are
# chosen by hand, and which are known to change nothing that can be noticed

package Draw;
use strict;
use warnings;
use Digest::MD5 qw(md5_hex);
use Exporter qw(import);

our @EXPORT_OK = qw(read_file write_file drawn by_hand known key_of);

sub read_file
{
	my $path = shift;

	open my $f, '<', $path or die "mutate: $path: $!\n";
	local $/;
	return scalar <$f>;
}

sub write_file
{
	my ($path, $text) = @_;

	open my $f, '>', $path or die "mutate: $path: $!\n";
	print $f $text;
	close $f or die "mutate: $path: $!\n";
}

# ---- what can be done to a line ----

my %flip = ('<' => ['<=', '>='], '<=' => ['<', '>'], '>' => ['>=', '<='],
	    '>=' => ['>', '<'], '==' => ['!='], '!=' => ['=='],
	    '&&' => ['||'], '||' => ['&&']);
# Two arguments of these may change places.
my $even = qr/\b(?:min|max|same|tux_time_min|tux_time_add)$/;

# The lines of a file.  Comments, strings and asserts are blanked, so that
# columns stay and nothing is found in them.
sub code_of
{
	my $text = shift;
	my $blank = sub { (my $c = shift) =~ tr/\n\t/ /c; $c };

	$text =~ s{(/\*.*?\*/)}{$blank->($1)}gse;
	$text =~ s{"((?:[^"\\\n]|\\.)*)"}{'"' . ' ' x length($1) . '"'}ge;
	$text =~ s{^(\s*(?:static_)?assert\(.*?\);)$}{$blank->($1)}gsme;
	return split /^/, $text;
}

sub balanced
{
	my $s = shift;

	return ($s =~ tr/(//) == ($s =~ tr/)//);
}

# Is it the smaller or the larger of two that the comparison in $code at $at
# takes?  Then it is no matter which, if they are equal.
sub takes_one
{
	my ($code, $next, $at) = @_;
	my $a = qr/([\w>.\[\]\/* -]*[\w\]])/;
	my ($l, $r, $x, $y);

	return 0 if substr($code, $at) !~ /^[<>]/;
	if (($l, $r, $x, $y) = $code =~
	    /^.*?(?:[=(,]|return) ?$a [<>]=? $a \? $a : $a[,;)]/) {
		return "$l $r" eq "$x $y" || "$l $r" eq "$y $x";
	}
	if (($l, $r) = $code =~ /^\s*if \($a [<>]=? $a\)$/) {
		return $next =~ /^\s*\Q$l\E = \Q$r\E;$/;
	}
	return 0;
}

# [kind, the line that takes its place], for each way to break @line.
sub mutants_of
{
	my ($line, $code, $next) = @_;
	my @m;
	my $put = sub {
		my ($kind, $at, $len, $new) = @_;
		my $l = $line;
		substr($l, $at, $len) = $new;
		push @m, [$kind, $l];
	};

	return if $code =~ /^\s*(#|case )/;
	while ($code =~ / (<=|>=|==|!=|<|>|&&|\|\|)(?= |$)/g) {
		my ($op, $at) = ($1, $-[1]);
		for my $new (@{$flip{$op}}) {
			next if substr($op, 0, 1) eq substr($new, 0, 1) &&
				takes_one($code, $next, $at);
			$put->('comparison', $at, length $op, $new);
		}
	}
	while ($code =~ /(?<=[\w\])]) ([+-]) (?=[\w(*&])/g) {
		$put->('sign', $-[1], 1, $1 eq '+' ? '-' : '+');
	}
	while ($code =~ /(?<![\w.>])(\d+)u?(?![\w.])/g) {
		$put->('one-off', $-[1], length $1, $1 + 1);
		$put->('one-off', $-[1], length $1, $1 - 1) if $1 > 0;
	}
	while ($code =~ /(?:\(|, )(?=([\w>.&*\[\]-]+), ([\w>.&*\[\]-]+)[,)])/g) {
		next if $1 eq $2 || substr($code, 0, $-[0]) =~ $even;
		$put->('swap', $-[1], $+[2] - $-[1], "$2, $1");
	}
	if ($code =~ /^(\t+)(?!\w+ \w+;|struct|const|static|unsigned|enum|for
			     |do\b)
		       ((?:return|goto|break|continue)\b.*
			|[\w*(>.\[\]-]+\s*([-+|&]?=|\+\+|--|\().*);\s*$/x
	    && $2 !~ /^\w+ \*?\w+ =/ && $2 !~ /^(if|while|switch|else)\b/
	    && balanced($2)) {
		push @m, ['dropped', "$1;\n"];
	}
	return @m;
}

# ---- all places ----

# A mutant is the same one as long as its file and both lines are, wherever they
# are.
sub key_of
{
	my $key = join ' ', @_;

	$key =~ s/\s+//g;
	return $key;
}

# The bodies of functions are what lies between braces in the first column.
sub places
{
	my $top = shift;
	my @all;

	for my $path (glob "$top/lib/{transport,policy,conn}/*.[ch]") {
		my $text = read_file($path);
		my @line = split /^/, $text;
		my @code = code_of($text);
		my $in = 0;

		for my $i (0 .. $#line) {
			$in = 1 if $code[$i] =~ /^\{/;
			$in = 0 if $code[$i] =~ /^\}/;
			next unless $in;
			push @all, map {
				{ file => substr($path, length("$top/")),
				  line => $i + 1, kind => $_->[0],
				  old => $line[$i], new => $_->[1] }
			} mutants_of($line[$i], $code[$i], $code[$i + 1]);
		}
	}
	return @all;
}

# All places, in the order in which they are to be tried.  Kinds in turn, so
# that none is drawn for being frequent; no line twice.  Within a kind a hash of
# the seed and the mutant decides, so that who changes a line moves no mutant
# elsewhere.
sub drawn
{
	my ($top, $seed) = @_;
	my (%kind, %nth, %seen, @out);

	for my $m (places($top)) {
		my $key = key_of($m->{file}, $m->{old}, $m->{new});
		$m->{rank} = md5_hex($seed, ' ', $key, ' ', $nth{$key}++ // 0);
		push @{$kind{$m->{kind}}}, $m;
	}
	my @lists = map {
		[sort { $a->{rank} cmp $b->{rank} } @{$kind{$_}}]
	} sort keys %kind;
	while (@lists = grep { @$_ } @lists) {
		for my $list (@lists) {
			my $m = shift @$list;
			$m = shift @$list
				while $m && $seen{"$m->{file}:$m->{line}"}++;
			push @out, $m if $m;
		}
	}
	return @out;
}

# A block of t/proof/mutants: "FILE: what it breaks", then the lines that go,
# after "-", and those that come, after "+".  They must be there once.
sub by_hand
{
	my $top = shift;
	my @out;

	for my $block (split /\n\n+/, read_file("$top/t/proof/mutants")) {
		my @line = grep { !/^#/ } split /\n/, $block;
		next unless @line;
		my ($file, $what) = shift(@line) =~ /^(\S+): (.*)$/
			or die "mutate: t/proof/mutants: no head: $block\n";
		my $old = join '', map { /^-(.*)/ ? "$1\n" : () } @line;
		my $new = join '', map { /^\+(.*)/ ? "$1\n" : () } @line;
		my $text = read_file("$top/$file");
		my $at = index $text, $old;

		die "mutate: t/proof/mutants: $file: not there, or not once:",
			"\n$old" if $at < 0 || index($text, $old, $at + 1) >= 0;
		push @out, { file => $file, kind => $what, old => $old,
			     new => $new,
			     line => 1 + (substr($text, 0, $at) =~ tr/\n//) };
	}
	return @out;
}

# A block of t/proof/survivors: the file, the line that went after "-", the one
# that came after "+", and why nothing can notice.  By their keys.
sub known
{
	my $top = shift;
	my %why;

	for my $block (split /\n\n+/, read_file("$top/t/proof/survivors")) {
		next if $block =~ /^#/;
		my ($file, $old, $new, $text) =
			$block =~ /^(\S+)\n-([^\n]*)\n\+([^\n]*)\n(.+)$/s
			or die "mutate: t/proof/survivors: what is:\n$block\n";
		$text =~ s/\n/ /g;
		$why{key_of($file, $old, $new)} = $text;
	}
	return %why;
}

1;
