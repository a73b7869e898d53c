#!/bin/bash
# --weights COL: what is read and what is refused, and that fit, path, cv, auto, fold-in, convert, check and --resume know
# weights. The mathematics is in check_weighted_norm, the passes in check_kernels.
# shellcheck disable=SC1091,SC2016,SC2317 # lib.sh stands beside; programs in quotes are for other shells
. "$(dirname "$0")/lib.sh"
cd "$T" || exit 1

fit() { "$GCG" fit "$@" >log 2>err; }
near() { awk -v x="$1" -v y="$2" -v tol="${3:-1e-9}" 'BEGIN { d = x - y; if (d < 0) d = -d; exit !(x == x && d <= tol * (y < 0 ? -y : y)) }'; }
json() { unzip -p "${2:-m}" model.json | sed -n "s/^ *\"$1\": \(.*[^,]\),\{0,1\}\$/\1/p"; }
member() { unzip -p "$1" "$2" | cksum; }

# user item rating weight, and weights that are four times these, all 1, and all 3
awk 'BEGIN { s = 1; print "user,item,rating,w,four,one,three"; for (i = 1; i <= 40; i++) for (j = 1; j <= 30; j++) {
    s = (s * 16807) % 2147483647; if (s % 10 >= 4) continue
    s = (s * 16807) % 2147483647; w = 0.25 * (1 + s % 13)
    printf "%d,%d,%.2f,%g,%g,1,3\n", i, j, 3 + (i % 5 - 2) * (j % 3 - 1) / 2 + (i % 3 - 1) * (j % 7 - 3) / 4 + (s % 100) / 200, w, 4 * w } }' >data.csv
{ sed -n 1p data.csv; sed 1d data.csv | sort -r; } >reversed.csv
awk -F , 'NR > 1 { print $1 "\t" $2 "\t" $3 "\t0\t" $4 }' data.csv >data.tsv

# ---- what is refused ----
says() { # STATUS PATTERN ARGUMENT...
    local status=$1 pattern=$2
    fit --lambda 1 -o m "${@:3}"
    [ $? = "$status" ] && grep -Eq -- "$pattern" err
}
row() { # TEXT-OF-WEIGHT PATTERN: on line 3, as the fourth column
    printf 'user,item,rating,w\na,x,3,1\na,y,4%s\nb,x,2,1\n' "$1" >bad.csv
    says 4 "^gcg-mc: bad.csv:3:$2" --weights w bad.csv && says 4 "^gcg-mc: bad.csv:3:$2" --weights 4 bad.csv
}
ok "a missing weight" row '' '6: error: no weight on this line'
ok "an empty one" row , '7: error: the weight is empty'
ok "zero" row ,0 "7: error: weight '0' is not above 0"
ok "a negative one" row ,-0.5 "7: error: weight '-0.5' is not above 0"
for bad in nan inf -inf NA; do ok "$bad" row ",$bad" "7: error: weight '$bad' is not a finite number"; done
for bad in x 1x 0x1; do ok "$bad" row ",$bad" "7: error: weight '$bad' is not a number"; done
for bad in 1e-39 1e39 1e200; do ok "$bad, no float" row ",$bad" "7: error: weight '$bad' is out of range"; done
ok "a column that the header does not name" says 4 "data.csv:1:1: error: --weights: the header line .* has no column named 'weight'" --weights weight data.csv
ok "a column of the rating" says 2 "--weights 3 is the column of the rating" --weights 3 data.csv
ok "or of the user" says 2 "--weights user is the column of the user" --columns user,item,rating --weights user data.csv
ok "column 0" says 2 "--weights 0: give the column" --weights 0 data.csv
ok "a name without a header" says 2 "--weights w needs a header line" --weights w --header no data.csv
ok "--solver als-cg" says 2 "--weights belongs to --solver gcg" --weights w --rank 3 --solver als-cg data.csv
printf '%%%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1\n2 2 3\n' >a.mtx
ok "mtx, which has no column for it" says 4 "a.mtx: error: --weights does not go with the mtx format" --weights 4 a.mtx
ok "also when it is asked for" says 2 "--weights does not go with --format mtx" --format mtx --weights 4 a.mtx
printf '1:\n7,3,2005-01-01\n8,4,2005-01-02\n' >netflix.txt
ok "netflix" says 4 "--weights does not go with the netflix format" --weights 4 netflix.txt
"$GCG" convert --quiet data.csv -o plain.gcs
ok "a store without weights" says 4 "plain.gcs: error: --weights: this store has no weights" --weights w plain.gcs
ok "also beside other files" says 4 "plain.gcs: error: --weights: this store has no weights" --weights w data.csv plain.gcs

# ---- what it means ----
solve() { fit --lambda 2 --gap 1e-8 "${@:2}" -o "$1" data.csv; }
ok "without weights" solve plain
ok "with weights" solve m --weights w
not_ok_if "that is another problem" cmp m plain
ok "the log says so" test "$(meta weights)" = w
ok "and the model" test "$(json weights) $(json weights plain)" = "true false"
"$GCG" predict --quiet m data.csv >scores
weighted() { awk -v n="$(last nuc_norm)" -v f="$(last objective)" -v rmse="$(last train_rmse)" 'BEGIN { FS = "," }
    FNR == 1 { next }
    NR == FNR { x[$1 "\t" $2] = $3; w[$1 "\t" $2] = $4; next }
    { split($0, p, "\t"); k = p[1] "\t" p[2]; d = p[3] - x[k]; loss += w[k] * d * d; sum += w[k]; rows++ }
    END { e = loss / 2 + 2 * n - f; r = sqrt(loss / sum) - rmse; exit !(rows > 400 && e * e < 1e-8 * f * f && r * r < 1e-8) }' data.csv scores; }
ok "the objective is the weighted loss and lambda times nuc_norm, train_rmse the weighted one" weighted
objective=$(last objective)
ok "a coarse run" fit --lambda 2 --gap 1e-2 --weights w -o coarse data.csv
ok "encloses the optimum" awk -v f="$objective" -v lo="$(last dual)" -v hi="$(last objective)" 'BEGIN { exit !(lo <= f && f <= hi) }'
ok "by number" solve m4 --weights 4
ok "to the byte" cmp m m4
ok "all 1" solve one --weights one
ok "is no weights, to the byte" cmp one plain
times4() { fit --lambda 8 --gap 1e-8 --weights four -o four data.csv && [ "$(member m U.npy)$(member m V.npy)" = "$(member four U.npy)$(member four V.npy)" ]; }
ok "weights and lambda times 4 give the same factors, to the byte" times4
thrice() { solve a --weights three && x=$(last objective) && fit --lambda 0.66666666666666667 --gap 1e-8 -o b data.csv && near "$x" "$(awk -v f="$(last objective)" 'BEGIN { printf "%.17g", 3 * f }')" 1e-7; }
ok "equal weights are a smaller lambda" thrice
fit --lambda-ratio 0.5 --weights w -o m data.csv
top=$(meta lambda_max)
ok "lambda_max is that of the weighted loss" near "$top" "$("$GCG" check --quiet --weights w --lambda-max data.csv | awk '$1 == "lambda_max" { print $2 }')"
ok "at which the zero matrix is the optimum" fit --lambda "$top" --weights w -o m data.csv
ok "and a warning says so" grep -q 'the optimum is the zero matrix' err

# ---- same bytes ----
weighed() { "$GCG" fit --quiet --log none --lambda 2 --weights "${@:2}" -o "$1"; }
ok "one thread" weighed m1 w --threads 1 data.csv
ok "two threads" weighed m2 w --threads 2 data.csv
ok "the same bytes" cmp m1 m2
ok "the lines in another order" weighed m2 w reversed.csv
ok "the same bytes" cmp m1 m2
ok "tab-separated, by number" weighed m2 5 data.tsv
ok "the same bytes" cmp m1 m2
ok "convert writes a store with weights" "$GCG" convert --quiet --weights w data.csv -o w.gcs
ok "which gives" weighed m2 w w.gcs
ok "the same bytes" cmp m1 m2
ok "through a hold-out" weighed m1 w --holdout 0.2 data.csv
ok "of the store" weighed m2 w --holdout 0.2 w.gcs
ok "the same bytes" cmp m1 m2
for options in "--center both" "--norm-weights 0.8" "--norm-weights 0.5 --center item" "--precision float" "--certify" "--plain --max-iter 1000 --gap 0.01"; do
    # shellcheck disable=SC2086 # the words are options
    ok "it works with $options" weighed m2 w $options data.csv
done

# ---- text and stores ----
ignored() { fit --lambda 2 --gap 1e-8 -o m2 w.gcs && grep -q 'note: its weights are not used' err && cmp m2 plain; }
ok "weights that are not asked for are not used" ignored
back() { "$GCG" convert --quiet --weights w w.gcs -o "b.$1" && "$GCG" convert --quiet --weights weight "b.$1" -o b.gcs && cmp b.gcs w.gcs; }
for kind in csv tsv csv.gz; do ok "a store with weights becomes $kind and the same store again" back $kind; done
clean() { "$GCG" convert --quiet --weights w data.csv -o c.csv && [ "$(sed -n 1p c.csv)" = user,item,rating,weight ] &&
    diff <(sed 1d c.csv | sort) <(sed 1d data.csv | awk -F , '{ printf "%s,%s,%g,%s\n", $1, $2, $3, $4 }' | sort); }
ok "the text has a fourth column" clean
exits 4 "mtx has no place for weights" "$GCG" convert --weights w data.csv -o c.mtx
checked() { "$GCG" check --quiet --weights w data.csv | grep -x 'weight_min	0.25' && "$GCG" check --quiet --weights w w.gcs | grep -x 'weight_max	3.25'; }
ok "check tells their range" checked
printf 'a,x,1,1\na,x,4,2\nb,y,3,5\n' >twice.csv
merged() { "$GCG" convert --quiet --weights 4 --duplicates "$1" twice.csv -o - | sed -n 2p | grep -x "a	x	$2"; }
ok "of duplicates the first keeps its weight" merged first "1	1"
ok "or the last" merged last "4	2"
ok "the mean is weighted" merged mean "3	1.5"
ok "a sum has their mean" merged sum "5	1.5"
implicit() { printf 'a,x,2\na,y,1\nb,x,3\n' >i.csv && "$GCG" convert --quiet --implicit --weights 3 i.csv -o - | sed -n 2p | grep -x 'a	x	1	2'; }
ok "--implicit ratings may have weights, in the third column" implicit

# ---- test data, path, cv, auto ----
sed 1d data.csv | awk -F , 'NR % 9 == 0 { print $1 "," $2 "," $3 }' >test.csv
ok "test and validation files need no weights" weighed m w --test test.csv --valid test.csv data.csv
ok "nor do pairs" weighed m w --test-pairs test.csv data.csv
path() { "$GCG" path --quiet --weights w --lambdas 4,2 --gap 1e-8 --log plog --keep-all -o p data.csv && near "$(json objective p.2)" "$objective" 2e-8; }
ok "path" path
cv() { "$GCG" cv --quiet --folds 2 --lambdas 4,2 --weights w data.csv >w.tsv && "$GCG" cv --quiet --folds 2 --lambdas 4,2 data.csv >n.tsv && ! cmp -s w.tsv n.tsv; }
ok "cv" cv
auto() { "$GCG" fit --quiet --lambda auto --norm-weights none --center none --log none --weights w -o a1 data.csv && "$GCG" fit --quiet --lambda auto --norm-weights none --center none --log none --weights w -o a2 w.gcs &&
    cmp a1 a2 && [ "$(json weights a1)" = true ]; }
ok "--lambda auto" auto

# ---- fold-in ----
fit --lambda 2 --gap 1e-8 --weights w -o m data.csv
same_rows() { # a training user gets its row back
    "$GCG" fold-in --quiet -n 0 --weights w -o folded m data.csv && "$GCG" predict --quiet folded data.csv >new && "$GCG" predict --quiet m data.csv >old &&
        paste old new | awk 'NR > 1 { d = $3 - $7; if (d * d > 1e-4) exit 1 }'
}
ok "fold-in --weights gives training users their rows back" same_rows
other_rows() { "$GCG" fold-in --quiet -n 0 -o folded m data.csv && "$GCG" predict --quiet folded data.csv >new && paste old new | awk 'NR > 1 { d = $3 - $7; if (d * d > 1e-3) found = 1 } END { exit !found }'; }
ok "without weights they are others" other_rows
noted() { "$GCG" fold-in -n 0 "$@" -o folded m data.csv 2>err; grep 'note: the fit had weights' err; }
ok "and a note says so" noted
not_ok_if "which is not there with weights" noted --weights w

# ---- going on from a checkpoint ----
fit --lambda 2 --gap 1e-8 --weights w --max-iter 2 -o half data.csv
ok "a checkpoint is left" test -s half.ckpt
cp half.ckpt kept.ckpt
resumed() { "$GCG" fit --quiet --log none --max-iter 500 --resume kept.ckpt --weights w -o half data.csv && [ "$(member half U.npy)" = "$(member m U.npy)" ]; }
ok "a fit goes on from it to the same bytes" resumed
fit --lambda 2 --gap 1e-8 --max-iter 2 -o bare data.csv
refused() { # PATTERN OPTION...
    fit --max-iter 500 "${@:2}" -o refused data.csv
    [ $? = 4 ] && grep -q -- "$1" err && [ ! -e refused ] || { cat err; return 1; }
}
ok "but not without the weights" refused 'kept.ckpt: error: is of ratings with weights: name their column, --weights COL' --resume kept.ckpt
ok "nor with weights of 1" refused 'is of ratings with weights' --resume kept.ckpt --weights one
ok "nor with others" refused 'kept.ckpt: error: is of other weights than those of --weights' --resume kept.ckpt --weights four
ok "nor one without weights with some" refused 'bare.ckpt: error: is of ratings without weights: leave --weights out' --resume bare.ckpt --weights w
by_other_ways() { # the column by number, the lines turned round, a store
    local file options
    for options in "4 data.csv" "w reversed.csv" "w w.gcs"; do
        file=${options#* }
        "$GCG" fit --quiet --log none --max-iter 500 --resume kept.ckpt --weights "${options% *}" -o half "$file" && [ "$(member half U.npy)" = "$(member m U.npy)" ] || { echo "$options"; return 1; }
    done
}
ok "but with the same weights from elsewhere" by_other_ways
chosen() { # fit --lambda auto and path, ended after some fits, go on to the same bytes
    local kind
    for kind in "fit --lambda auto --center none --norm-weights 0.5" "path --lambdas 8,4,2 --holdout 0.2"; do
        rm -f a.* b.*
        # shellcheck disable=SC2086 # the words are options
        "$GCG" $kind --quiet --gap 1e-6 --weights w --log a.log -o a.m data.csv || return 1
        # shellcheck disable=SC2086
        "$GCG" $kind --quiet --gap 1e-6 --weights w --checkpoint-every 0 --log b.log -o b.m data.csv &
        local pid=$!
        for _ in {1..500}; do [ -s b.m.ckpt ] && break; sleep 0.01; done
        kill -KILL $pid
        wait $pid
        [ ! -s b.m.ckpt ] || "$GCG" "${kind%% *}" --quiet --weights w --resume b.m.ckpt --log b.log -o b.m data.csv || return 1
        cmp a.m b.m || return 1
    done
} 2>/dev/null
ok "a path, and lambda auto, that are killed go on to the same bytes" chosen
done_testing
