#!/bin/bash
# gcg-mc similar: against cosines computed from the exported factors.
# shellcheck disable=SC1091,SC2317 # lib.sh stands beside; functions are called by name
. "$(dirname "$0")/lib.sh"
cd "$T" || exit 1

similar() { "$GCG" similar "$@" 2>err; }
"$GCG" synth --quiet --users 120 --items 90 --ratings 2500 -o tr.csv
"$GCG" fit --quiet --log none --center user --lambda 4 -o m tr.csv
"$GCG" export --quiet m --to tsv -o x

# FILE ID: other and cosine of every other row, best first.
naive() { awk -F '\t' -v id="$2" 'NR > 1 { for (q = 2; q < NF; q++) { f[$1, q] = $q; n[$1] += $q * $q } k = NF - 1; row[NR] = $1 }
    END { for (r = 2; r <= NR; r++) if (row[r] != id && n[row[r]] > 0) { s = 0; for (q = 2; q <= k; q++) s += f[id, q] * f[row[r], q]
            printf "%s\t%.12f\n", row[r], s / sqrt(n[id] * n[row[r]]) } }' "$1" | LC_ALL=C sort -t "$(printf '\t')" -k 2,2gr; }
same() { similar "--$1" "$2" -n 500 m | awk -F '\t' 'NR > 1 { printf "%s\t%.12f\n", $3, $4 }' | diff - <(naive "x.${1}s.tsv" "$2"); }

ok "the nearest items are those by the cosine of the exported factors" same item 7
ok "the nearest users, too" same user 11
columns() { test "$(similar --item 7 -n 1 m | head -n 1)" = "$(printf 'item\trank\tother\tscore')" && test "$(similar --user 7 -n 1 m | head -n 1)" = "$(printf 'user\trank\tother\tscore')"; }
ok "the first column is named for what was asked" columns
ranks() { test "$(similar --item 7 -n 3 m | cut -f 1,2 | sed 1d | xargs)" = "7 1 7 2 7 3"; }
ok "ranks count from 1" ranks
bounds() { similar --item 7 -n 500 m | awk -F '\t' 'NR > 1 { if ($3 == 7 || $4 > 1 || $4 < -1 || (NR > 2 && $4 > last)) exit 1; last = $4 }'; }
ok "never itself, scores from -1 to 1, not increasing" bounds
ok "10 by default" test "$(similar --item 7 m | wc -l)" = 11
ok "--top is -n" test "$(similar --item 7 --top 4 m)" = "$(similar --item 7 -n 4 m)"
ok "the same for any number of threads" test "$(similar --user 7 --threads 1 m)" = "$(similar --user 7 --threads 2 m)"

# equal rows: items 1 and 2 have the same ratings, item 4 none
printf '%%%%MatrixMarket matrix coordinate real general\n3 4 8\n1 1 5\n1 2 5\n2 1 1\n2 2 1\n3 1 3\n3 2 3\n1 3 -4\n3 3 2\n' >twins.mtx
"$GCG" fit --quiet --log none --lambda 0.5 -o twins twins.mtx
twins() { similar --item 1 twins | sed -n 2p | awk -F '\t' '{ exit !($3 == 2 && $4 > 1 - 1e-6) }'; }
ok "items with the same ratings have cosine 1" twins
zeros() { test "$(similar --item 1 twins | cut -f 3 | sed 1d | sort | xargs)" = "2 3"; }
ok "an item without ratings is nobody's neighbour" zeros
exits 4 "and has none" similar --item 4 twins
ok "as a message says" grep -q "^gcg-mc: twins: error: the factors of item '4' are all zero" err
exits 4 "an unknown id is an error" similar --user nobody m
ok "that names it" grep -q "^gcg-mc: m: error: has no user 'nobody'" err
exits 2 "an item and a user together are refused" similar --item 1 --user 1 m
exits 2 "neither is refused" similar m
exits 5 "a model that is not there is refused" similar --item 1 none
full() { "$GCG" similar --item 7 m >/dev/full; }
exits 5 "a full disk is reported" full
done_testing
