#!/bin/bash
# The manual pages name exactly the options that the program has, and the names of its tables.
# shellcheck disable=SC1091 # lib.sh stands beside
. "$(dirname "$0")/lib.sh"
cd "$T" || exit 1

commands=$("$GCG" --help | awk '/^  [a-z]/ { print $1 }')
ok "--help lists subcommands" test "$(wc -w <<<"$commands")" -ge 4

# Options with their arguments, one a line: --lambda L. --help is in gcg-mc(1).
of_help() { "$GCG" "$1" --help | sed -n 's/^  \(-., \|    \)\(--[a-z-]*\( [^ ][^ ]*\)\{0,1\}\).*/\2/p' | grep -vx -e --help | sort; }
of_tags() { # from the tags of the option lists
    sed -n 's/^\.It \(Fl .*\)/\1/p' "$ROOT/man/gcg-mc-$1.1" | sed 's/ , /\n/g' | grep '^Fl -' |
        sed -e 's/^Fl -/--/' -e 's/ Ar / /' -e 's/ Cm / /' | sort
}
of_page() { # named anywhere
    grep -o '\(Fl \|Ns \)-[a-z][a-z-]*' "$ROOT/man/gcg-mc-$1.1" | sed 's/^.. -/--/' | sort -u
}
names() { cut -d ' ' -f 1 | sort -u; }

all_documented() { comm -23 <(of_help "$1" | names) <(of_page "$1") | { ! grep .; }; }
none_invented() { comm -13 <(of_help "$1" | names) <(of_tags "$1" | names) | { ! grep .; }; }
same_arguments() { comm -12 <(of_help "$1" | names) <(of_tags "$1" | names) >both
    diff <(of_help "$1" | grep -w -F -f both) <(of_tags "$1"); }
for command in $commands; do
    ok "gcg-mc-$command(1) is there" test -s "$ROOT/man/gcg-mc-$command.1"
    ok "it names every option of gcg-mc $command" all_documented "$command"
    ok "and lists no other one" none_invented "$command"
    ok "gcg-mc(1) refers to it" grep -q "^\.Xr gcg-mc-$command 1" "$ROOT/man/gcg-mc.1"
done
ok "gcg-mc-fit(1) names the arguments as --help does" same_arguments fit

printf '1,1,2\n1,2,3\n1,3,6\n' >row.csv
"$GCG" fit --quiet --lambda 1 -o m row.csv >log
log_names() { { sed -n 's/^# \([a-z_]*\)\t.*/\1/p' log; grep '^iter' log | tr '\t' '\n'; } | sort -u; }
page_names() { sed -n 's/^\.It Cm //p' "$ROOT/man/gcg-mc-log.5" | sed 's/ , /\n/g' | sort -u; }
ok "gcg-mc-log(5) has exactly the keys and columns of a log" diff <(log_names) <(page_names)
done_names() { sed -n 's/^ *"\([a-z_]*\)":.*/\1/p' m.done | sort; }
done_documented() { sed -n '/^\.Sh FILES/,/^\.Sh EXIT/s/^\.It Cm //p' "$ROOT/man/gcg-mc-fit.1" | sed 's/ , /\n/g' | sort; }
ok "gcg-mc-fit(1) has exactly the keys of MODEL.done" diff <(done_names) <(done_documented)
sed 's/$/,1/' row.csv >weighted.csv
check_names() { "$GCG" check --quiet --weights 4 --test row.csv --lambda-max weighted.csv | cut -f 1 | sed 's/:.*//' | sort -u; }
check_documented() { sed -n 's/^\.It Cm //p' "$ROOT/man/gcg-mc-check.1" | sed -e 's/ , \(Cm \)*/\n/g' -e 's/ Ns [^\n]*//g' | sort -u; }
ok "gcg-mc-check(1) has exactly the keys of check" diff <(check_names) <(check_documented)

# Every page that is referred to is there, every page is sound.
references() { cat "$ROOT"/man/*.[1-9] | sed -n 's/.*\.Xr \(gcg-mc[a-z-]*\) \([0-9]\).*/\1.\2/p' | sort -u; }
no_dead_reference() { local page; for page in $(references); do test -s "$ROOT/man/$page" || { echo "no $page"; return 1; }; done; }
ok "no page refers to one that is not there" no_dead_reference
if command -v mandoc >/dev/null; then
    sound() { mandoc -Tlint "$ROOT"/man/*.[1-9] | grep -v 'referenced manual not found' | { ! grep .; }; }
    ok "mandoc finds nothing wrong with the pages" sound
else
    skip "mandoc finds nothing wrong with the pages" "no mandoc here"
fi

done_testing
