#!/bin/bash
# gcg-mc alone, help TOPIC, and what --help looks like. Topics come from the manual pages.
# shellcheck disable=SC1091,SC2016,SC2317 # lib.sh stands beside; programs in quotes are for other shells
. "$(dirname "$0")/lib.sh"
cd "$T" || exit 1

gcg() { "$GCG" "$@" >out 2>err; }
says() { grep -q -e "$1" err || { cat err; return 1; }; }
has() { grep -q -e "$1" out || { cat out; return 1; }; }
commands=$("$GCG" --help | awk '/^  [a-z]/ { print $1 }')

# ---- the guide ----
exits 2 "gcg-mc alone is a usage error" gcg
ok "with a short guide" awk 'NR > 20 || length > 79 { exit 1 }' err
ok "that shows commands" says '^  gcg-mc fit --lambda'
ok "and where there is more" says 'gcg-mc help TOPIC'
ok "--help lists all subcommands on a screen" bash -c '"$GCG" --help | awk "NR > 40 || length > 79 { exit 1 }"'

# ---- topics ----
ok "help alone lists the topics" gcg help
topics=$(awk '/^  [a-z]/ { print $1 }' out)
for topic in tutorial formats log model lambda memory threads exit-codes; do
    ok "$topic is one" bash -c 'grep -qx "$0" <<<"$1"' "$topic" "$topics"
done
for topic in $topics $commands; do
    ok "help $topic ends with 0" gcg help "$topic"
    ok "on standard output alone, with something to read" bash -c 'test ! -s err && test "$(wc -l <out)" -ge 4'
    ok "without control characters, nor a macro left over" bash -c '! LC_ALL=C grep -q "[[:cntrl:]]" <(tr -d "\n" <out) && ! grep -qE "^ *\.[A-Z][a-z]( |$)" out'
    ok "in lines that fit a terminal" awk '!/^     / && length > 80 { print; exit 1 }' out
done
for command in $commands; do
    gcg help "$command"
    ok "help $command is its manual page" has "gcg-mc-$command - "
    ok "with every option" bash -c '"$GCG" "$0" --help | grep -oE "^  (-., |    )--[a-z-]+" | grep -oE -e "--[a-z-]+" | grep -vx -e --help |
        while read -r option; do grep -q -e "$option" out || { echo "no $option"; exit 1; }; done' "$command"
done
gcg help exit-codes
ok "help exit-codes is that section alone" bash -c 'head -n 1 out | grep -qx "EXIT STATUS" && grep -q "^    0  *done" out && ! grep -q EXAMPLES out'
gcg help lambda
ok "help lambda tells the problem" bash -c 'has() { grep -q -e "$1" out; }; has "--lambda-ratio R" && ! has "--max-iter N"'
exits 2 "an unknown topic is a usage error" gcg help nonsense
ok "that says where they are" says 'gcg-mc help lists them'
exits 2 "a mistyped one" gcg help formts
ok "with the nearest" says 'unknown topic formts; did you mean formats?'
exits 2 "a mistyped subcommand" gcg help pedict
ok "with the nearest, too" says 'did you mean predict?'
exits 2 "two topics" gcg help fit log
exits 2 "help itself may be mistyped" gcg hlep
ok "and is suggested" says 'did you mean help?'
exits 5 "a full disk is an error" bash -c '"$GCG" help fit >/dev/full 2>err'
ok "a reader that goes away is fine" bash -c '"$GCG" help fit 2>err | head -n 1 >/dev/null; test "${PIPESTATUS[0]}" = 0 && test ! -s err'

if command -v mandoc >/dev/null; then
    # The same words in the same order as mandoc's own text, but for hyphens and quotes that it sets otherwise.
    plain() { LC_ALL=C sed -e 's/.\x08//g' | tr -s '[:space:]' '\n' | tr -d "\"'\`" | grep -v '^$'; }
    body() { plain | sed -n '/^NAME$/,$p'; }
    as_mandoc() {
        mandoc -T ascii "$ROOT/man/$1" | sed -e '1d' -e '$d' | body >want
        "$GCG" help "$2" | body >got
        diff want got
    }
    for command in $commands; do
        ok "help $command has the words of the page as mandoc sets it" as_mandoc "gcg-mc-$command.1" "$command"
    done
    for pair in formats=data.5 log=log.5 model=model.5 tutorial=tutorial.7; do
        ok "help ${pair%=*}, too" as_mandoc "gcg-mc-${pair#*=}" "${pair%=*}"
    done
else
    skip "help has the words of the page as mandoc sets it" "no mandoc here"
fi

# ---- --help ----
on_a_screen() { # LINES COMMAND
    "$GCG" "$2" --help | awk -v most="$1" 'length > 100 { print; bad = 1 } END { if (NR > most) print NR " lines"; exit bad || NR > most }'
}
for command in $commands; do
    case $command in
    fit | path | cv) most=60 ;; # they share their options
    *) most=30 ;;
    esac
    ok "$command --help has at most $most lines" on_a_screen $most "$command"
done
ok "that of fit is grouped" bash -c '"$GCG" fit --help | grep -cE "^[a-z ]+:$" | grep -qx "[5-9]"'
no_empty_group() { "$GCG" "$1" --help | awk '/^[a-z ]+:$/ && before { print; exit 1 } { before = /^[a-z ]+:$/ }'; }
for command in $commands; do ok "no group of $command is empty" no_empty_group "$command"; done
done_testing
