#!/bin/bash
# gcg-mc eval --top and --by: rankings against a count by awk over the lists of recommend, errors by user and item
# against predict.
# shellcheck disable=SC1091,SC2317,SC2016 # lib.sh stands beside; functions are called by name
. "$(dirname "$0")/lib.sh"
cd "$T" || exit 1

evaluate() { "$GCG" eval "$@" 2>err; }
"$GCG" synth --quiet --users 150 --items 100 --ratings 4000 --test te0.csv --test-ratings 800 -o tr.csv
"$GCG" fit --quiet --log none --center both --lambda 3 -o m tr.csv
# New users, new items, both, and a pair that is there twice.
{ cat te0.csv; printf 'nina,5,4\nnina,9,5\nnina,what,5\nolga,77,1\n3,what,4\n3,else,2\n8,what,5\n'; sed -n 5p te0.csv; } >te.csv

# SUBSET: users relevant precision recall ndcg, from recommend's lists; N and R are lengths and thresholds.
naive() { # N R EXCLUDE [USER]
    sed 1d te.csv | cut -d , -f 1 | awk '!s[$0]++' >testers
    "$GCG" recommend --quiet --unknown mean --users testers ${3:+--exclude "$3"} -n "$1" m >lists
    awk -F , -v OFS='\t' -v n="$1" -v least="$2" -v one="${4-}" '
        function log2(x) { return log(x) / log(2) }
        FILENAME == "tr.csv" { if (FNR > 1) { trained[$1]; rated[$2] } next }
        FILENAME == "lists" { split($0, f, "\t"); if (FNR > 1) item[f[1], f[2]] = f[3]; next }
        FNR > 1 && $3 >= least { relevant[$1, $2]; user[$1] }
        function figures(who, subset,    p, f, all, r, k, hits, gain, ideal) { # of one user: R hits gain ideal
            all = subset == "all"
            for (p in relevant) { split(p, f, SUBSEP); if (f[1] == who && (all || kind(f[1], f[2]) == subset)) { r++; wanted[f[2]] } }
            for (k = 1; k <= n && (who, k) in item; k++) if (item[who, k] in wanted) { hits++; gain += 1 / log2(k + 1) }
            for (k = 1; k <= n && k <= r; k++) ideal += 1 / log2(k + 1)
            for (k in wanted) delete wanted[k]
            R = r + 0; P = hits / n; if (r) { C = hits / r; G = gain / ideal }
        }
        function kind(u, i) { return u in trained ? (i in rated ? "seen" : "new_item") : (i in rated ? "new_user" : "new_both") }
        END {
            if (one != "") { figures(one, "all"); printf "%d %.10f %.10f %.10f\n", R, P, C, G; exit }
            split("all seen new_user new_item new_both", name, " ")
            for (s = 1; s <= 5; s++) { users = total = p = c = g = 0
                for (u in user) { figures(u, name[s]); if (R) { users++; total += R; p += P; c += C; g += G } }
                if (users) printf "%s %d %d %.10f %.10f %.10f\n", name[s], users, total, p / users, c / users, g / users
                else print name[s], 0, 0, "nan nan nan" }
        }' tr.csv lists te.csv | tr '\t' ' '
}
figures() { evaluate "$@" | awk -F '\t' 'NR > 1 { if ($5) printf "%s %d %d %.10f %.10f %.10f\n", $1, $5, $6, $7, $8, $9; else print $1, 0, 0, "nan nan nan" }'; }
same() { # N R EXCLUDE
    figures --top "$1" --relevant "$2" ${3:+--exclude "$3"} m te.csv | diff <(naive "$1" "$2" "$3") -
}
ok "precision, recall and NDCG are those counted over recommend's lists" same 10 4 tr.csv
ok "also for lists of one" same 1 3 tr.csv
ok "and of everything" same 500 4 tr.csv
ok "without excluded pairs" same 10 4 ''
all_relevant() { figures -n 5 --exclude tr.csv m te.csv | diff <(naive 5 -1000 tr.csv) -; }
ok "without --relevant every test pair is" all_relevant
head_line() { test "$(evaluate --top 5 m te.csv | head -n 1)" = "$(printf 'subset\tn\trmse\tmae\tusers\trelevant\tprecision\trecall\tndcg')"; }
ok "the columns have their names" head_line
errors_stay() { diff <(evaluate --top 5 m te.csv | cut -f 1-4) <(evaluate m te.csv); }
ok "the errors are those of eval without --top" errors_stay
evaluate --top 10 --relevant 4 --exclude tr.csv m te.csv >e
equal() { evaluate --top 10 --relevant 4 --exclude tr.csv "$@" | cmp - e; }
{ head -n 1 te.csv; sed 1d te.csv | tac; } >back.csv
ok "the order of the test lines changes no digit" equal m back.csv
ok "nor does the number of threads" equal --threads 1 m te.csv
"$GCG" convert --quiet tr.csv -o tr.gcs
store() { evaluate --top 10 --relevant 4 --exclude tr.gcs m te.csv | cmp - e; }
ok "excluded pairs may be a binary store" store
skipped() { evaluate --unknown skip --top 10 --relevant 4 --exclude tr.csv m te.csv >s && diff <(grep seen e) <(grep seen s) && test "$(awk -F '\t' '$1 ~ /new/ { n += $2 + $5 } END { print n }' s)" = 0 &&
    diff <(grep seen s | cut -f 2-) <(grep ^all s | cut -f 2-); }
ok "--unknown skip leaves new users and items out" skipped

# ---- by user, by item ----
"$GCG" predict --quiet m te.csv >p
by_hand() { # COLUMN of the key
    paste -d , <(sed 1d p | tr '\t' ,) <(sed 1d te.csv) | awk -F , -v c="$1" '
        FILENAME == "tr.csv" { if (FNR > 1) train[$c]++; next }
        { d = $3 - $7; s[$c] += d * d; a[$c] += d < 0 ? -d : d; n[$c]++ }
        END { for (k in n) printf "%s %d %d %.10f %.10f\n", k, train[k], n[k], sqrt(s[k] / n[k]), a[k] / n[k] }' tr.csv - | LC_ALL=C sort
}
by() { evaluate --by "$1" m te.csv | awk -F '\t' 'NR > 1 { printf "%s %d %d %.10f %.10f\n", $1, $2, $3, $4, $5 }' | LC_ALL=C sort | diff <(by_hand "$2") -; }
ok "errors by user are those of predict" by user 1
ok "errors by item, too" by item 2
names() { test "$(evaluate --by item m te.csv | head -n 1)" = "$(printf 'item\ttrain\tn\trmse\tmae')" && test "$(evaluate --by user --top 3 m te.csv | head -n 1)" = "$(printf 'user\ttrain\tn\trmse\tmae\trelevant\tprecision\trecall\tndcg')"; }
ok "with their columns" names
model_order() { evaluate --by user m te.csv | sed 1d | cut -f 1 | head -n -2 | sort -nc && test "$(evaluate --by user m te.csv | tail -n 2 | cut -f 1 | xargs)" = "nina olga"; }
ok "in the model's order, new ids last" model_order
one_user() { test "$(evaluate --by user --top 10 --relevant 4 --exclude tr.csv m te.csv | awk -F '\t' -v u="$1" '$1 == u { printf "%d %.10f %.10f %.10f", $6, $7, $8, $9 }')" = "$(naive 10 4 tr.csv "$1")"; }
ok "a user's row has its own ranking" one_user 3
ok "a new user's, too" one_user nina
subset() { test "$(evaluate --by subset m te.csv)" = "$(evaluate m te.csv)"; }
ok "--by subset is the default" subset
by_skip() { evaluate --unknown skip --by item m te.csv >s && ! grep -q what s && test "$(awk -F '\t' 'NR > 1 { n += $3 } END { print n }' s)" = "$(evaluate m te.csv | awk -F '\t' '$1 == "seen" { print $2 }')"; }
ok "--unknown skip leaves new pairs out of the rows" by_skip
nan_rows() { test "$(evaluate --unknown nan --by user m te.csv | grep -c 'nan')" = 4; }
ok "--unknown nan makes the rows nan that have some" nan_rows
exact() { awk -F , 'NR == 1 || $1 == 7' te.csv >seven.csv && test "$(evaluate m seven.csv | awk -F '\t' '$1 == "all" { print $3, $4 }')" = "$(evaluate --by user m te.csv | awk -F '\t' '$1 == 7 { print $4, $5 }')"; }
ok "a user's error equals that of eval on its lines alone, to the last digit" exact
empty() { : >none.csv && test "$(evaluate --top 5 m none.csv | sed -n 2p)" = "$(printf 'all\t0\tnan\tnan\t0\t0\tnan\tnan\tnan')" && test "$(evaluate --by user m none.csv | wc -l)" = 1; }
ok "an empty TEST has no figures" empty

exits 2 "--relevant without --top is refused" evaluate --relevant 4 m te.csv
exits 2 "--exclude without --top is refused" evaluate --exclude tr.csv m te.csv
exits 2 "--top with --by item is refused" evaluate --top 5 --by item m te.csv
exits 2 "standard input twice is refused" evaluate --top 5 --exclude - m -
exits 4 "a bad --exclude is an error" evaluate --top 5 --exclude m m te.csv
done_testing
