#!/bin/bash
# A session with ids that are text: Book-Crossing's layout through fit, recommend, similar, fold-in, eval.
# shellcheck disable=SC1091,SC2317 # lib.sh stands beside; functions are called by name
. "$(dirname "$0")/lib.sh"
cd "$T" || exit 1

# ISBNs with X and leading zeros, quotes, separators and blanks in ids; 0 means "not rated".
awk 'BEGIN { print "\"User-ID\";\"ISBN\";\"Book-Rating\""
    split("034545104X 0002005018 2.02.033126.2 680ISBN359623 B0000BLD7X", odd, " ")
    for (i = 1; i <= 60; i++) for (j = 1; j <= 40; j++) if ((i * 7 + j * 11) % 4 == 0) {
        isbn = j <= 5 ? odd[j] : j == 6 ? "with;semicolon" : j == 7 ? "say \"\"x\"\"" : j == 8 ? "a, b" : sprintf("%09dX", j * 1117)
        printf "\"%s\";\"%s\";\"%d\"\n", (i % 5 ? 276000 + i : "reader " i), isbn, (i + j) % 9 } }' >bx.csv
fit() { "$GCG" fit --quiet --log none --format semicolon --value-map 0=drop --center both --lambda 2 -o m "$1"; }
ok "a model is fitted" fit bx.csv
"$GCG" recommend --quiet --users all --exclude bx.csv --value-map 0=drop m >r
known() { cut -f 3 r | sed 1d | sort -u | grep -Fvx -f <("$GCG" convert --quiet --value-map 0=drop bx.csv -o - | cut -f 2 | sort -u | sed 's/^"\(.*\)"$/\1/; s/""/"/g'); test $? = 1; }
ok "recommended items have the ids of the file" known
not_rated() { awk -F '\t' 'NR > 1 { print $1 "\t" $3 }' r | sort >lists && "$GCG" predict --quiet m <(sed 's/;"0"$/;"x"/' bx.csv | grep -v '"x"$') | awk -F '\t' 'NR > 1 { print $1 "\t" $2 }' | sort | comm -12 lists - | { ! grep .; }; }
ok "none of them was rated by its user" not_rated
zeros() { awk -F '\t' 'NR == FNR { r[$1, $3]; next } ($1, $2) in r { n++ } END { exit !n }' r <(grep '"0"$' bx.csv | sed 's/"//g' | tr ';' '\t'); }
ok "what was dropped by --value-map may be recommended" zeros
one() { "$GCG" recommend --quiet --user 'reader 10' -n 3 m | awk -F '\t' 'NR > 1 { n += $1 == "reader 10" && $4 > 0 } END { exit n != 3 }'; }
ok "a user is named by its text" one
list() { printf '"reader 10"\n  276001  \n' | "$GCG" recommend --quiet --users - -n 1 m | cut -f 1 | sed 1d | xargs | grep -qx 'reader 10 276001'; }
ok "also quoted, in a list" list
near() { "$GCG" similar --item 034545104X -n 3 m | awk -F '\t' 'NR > 1 && ($1 != "034545104X" || $3 == $1) { exit 1 } END { exit NR != 4 }'; }
ok "so is an item" near
not_number() { "$GCG" similar --item 34545104X m 2>err; test $? = 4 && grep -q "no item '34545104X'" err; }
ok "leading zeros count" not_number
late() { printf '"new reader";"034545104X";"9"\n"new reader";"with;semicolon";"8"\n"new reader";"say ""x""";"2"\n"new reader";"unknown";"7"\n' >late.csv &&
    "$GCG" fold-in -o m2 m late.csv >l 2>err && test "$(cut -f 1 l | sed 1d | sort -u)" = "new reader" && ! cut -f 3 l | grep -qxF -e 034545104X -e 'with;semicolon' -e 'say "x"' &&
    grep -q '1 of 4 ratings left out' err && test "$("$GCG" recommend --quiet --user 'new reader' --exclude late.csv m2)" = "$(cat l)"; }
ok "a new reader is folded in" late
by_user() { "$GCG" eval --quiet --by user --top 5 --value-map 0=drop m2 late.csv | awk -F '\t' 'NR == 2 { exit !($1 == "new reader" && $2 == 3 && $3 == 4) }'; }
ok "and evaluated" by_user

if [ -n "$SHARED" ] && [ -s "$SHARED/data/others/book-crossing/BX-Book-Ratings.quoted20000.csv" ]; then
    real() {
        local file=$SHARED/data/others/book-crossing/BX-Book-Ratings.quoted20000.csv
        "$GCG" fit --quiet --log none --value-map 0=drop --center both --lambda 4 -o bx "$file" || return 1
        "$GCG" recommend --quiet --users all -n 5 --exclude "$file" --value-map 0=drop -o top.tsv.gz bx &&
            gzip -dc top.tsv.gz | awk -F '\t' 'NR > 1 { n[$1]++; if ($4 + 0 != $4) exit 1 } END { for (u in n) if (n[u] != 5) exit 1; exit NR < 1000 }' &&
            sed -n '/"276925"/p' "$file" | sed 's/276925/me/' >me.csv && "$GCG" fold-in --quiet --value-map 0=drop -n 3 bx me.csv | awk -F '\t' 'NR > 1 && $1 != "me" { exit 1 } END { exit NR != 4 }'
    }
    ok "Book-Crossing's own file goes the same way" real
else
    skip "Book-Crossing's own file goes the same way" "no ../shared/data here"
fi
done_testing
