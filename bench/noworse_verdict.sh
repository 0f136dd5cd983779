# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
#
# noworse_verdict - the arithmetic of bench/noworse: from runs to a row, from
# rows to the last line.  Nothing here knows how anything was measured.
#
# A run is a line "RATE P99 CPU PATH", "-" for what its tool does not tell.  CPU
# is per operation, in any unit; so are RATE and P99: only ratios are judged.

# median FILE COLUMN: of the values in it; "-" if there are none
median()
{
	awk -v c="$2" '$c != "-" { print $c }' "$1" | sort -g |
		awk '{ v[NR] = $1 } END { print NR ? v[int((NR + 1) / 2)] : "-" }'
}

# judge KERNEL CONTROL TUX: files of runs
#
# Prints "tux kernel ratio control p99_ratio p99_control cpu_ratio path
# verdict", where the verdict is
#   noise   the control lies outside 0.9 to 1.1: the row says nothing
#   slow    ratio < 0.95 x min(1, control)
#   late    p99_ratio > 1.05 x max(1, p99_control)
#   holds   none of these
judge()
{
	local c file of=()

	for file in "$@"; do
		for c in 1 2 3 4; do of+=("$(median "$file" $c)"); done
	done
	echo "${of[@]}" | awk '
	function over(a, b)
	{
		return a == "-" || b == "-" || b + 0 <= 0 ? "-" : a / b
	}
	function show(v)
	{
		return v == "-" ? v : sprintf("%.3f", v)
	}
	{
		ratio = over($9, $1); control = over($5, $1)
		p99 = over($10, $2); p99_control = over($6, $2)
		cpu = over($11, $3)
		floor = control < 1 ? control : 1
		ceiling = p99_control > 1 ? p99_control : 1
		if (control == "-" || control < 0.9 || control > 1.1)
			verdict = "noise"
		else if (ratio < 0.95 * floor)
			verdict = "slow"
		else if (p99 != "-" && p99_control != "-" &&
		    p99 > 1.05 * ceiling)
			verdict = "late"
		else
			verdict = "holds"
		print $9, $1, show(ratio), show(control), show(p99),
			show(p99_control), show(cpu), show($12), verdict
	}'
}

# sum_up: of rows "NAME MTU ... VERDICT" on standard input, with the ratio in
# the fifth column, what follows "noworse: " in the last line
#
# The worst is the least ratio: of the rows that failed if some did, of all rows
# otherwise.  A row that could not run leaves the whole incomplete.
sum_up()
{
	awk '
	$1 == "#" { next }
	$NF == "skipped" { skipped = 1; next }
	{
		bad = $NF != "holds"
		ratio = $5 == "-" ? 0 : $5
		if (bad > failed || (bad == failed &&
		    (name == "" || ratio < worst))) {
			worst = ratio
			name = $1
		}
		failed = failed || bad
	}
	END {
		word = "ok"
		if (skipped || name == "")
			word = "incomplete"
		if (failed)
			word = "failed"
		if (name == "")
			print word
		else
			printf "%s worst=%.2f name=%s\n", word, worst, name
	}'
}
