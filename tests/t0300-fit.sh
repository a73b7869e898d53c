#!/bin/bash
# fit on small data: closed forms, the log, the model and MODEL.done, test sets, what may not change a byte.
# shellcheck disable=SC1091,SC2016 # lib.sh stands beside; awk programs are quoted; ok calls the functions
. "$(dirname "$0")/lib.sh"
cd "$T" || exit 1

printf '1,1,2\n1,2,3\n1,3,6\n' >row.csv # |x| = 7
printf '1,1,3\n1,2,3\n2,1,3\n2,2,3\n' >equal.csv
awk 'BEGIN { for (u = 1; u <= 4; u++) for (i = 1; i <= 3; i++) printf "%d,%d,%d\n", u, i, u * i }' >rank1.csv # |u| |v|
printf '1,1,0\n1,2,0\n2,1,0\n' >zeros.csv
awk 'BEGIN { srand(3); for (u = 1; u <= 60; u++) for (i = 1; i <= 40; i++) { p = rand(); r = 1 + int(5 * rand())
    if (p < 0.3) printf "%d,%d,%d\n", u, i, r } }' >noise.csv
awk 'BEGIN { srand(4); for (u = 1; u <= 60; u++) for (i = 1; i <= 40; i++) { p = rand(); r = 1 + int(5 * rand())
    if (p < 0.05) printf "%d,%d,%d\n", u, i, r } }' >more.csv

fit() { "$GCG" fit "$@" >log 2>err; }
done_value() { sed -n 's/^ *"'"$1"'": "\{0,1\}\([^",]*\)"\{0,1\},\{0,1\}$/\1/p' "${2:-m.done}"; }
near() { awk -v x="$1" -v y="$2" -v tol="$3" 'BEGIN { d = x - y; exit !(d <= tol && -d <= tol) }' || { echo "$1 is not $2"; return 1; }; }
says() { grep -q -e "$1" err || { cat err; return 1; }; }
nothing_left() { local left; left=$(find . -name '*.tmp'); [ -z "$left" ] || { echo "$left"; return 1; }; }

# ---- closed forms ----
# one singular value s, everything observed: F = lambda s - lambda^2 / 2, trace norm s - lambda
closed_form() { # FILE S LAMBDA
    fit --gap 1e-10 --lambda "$3" -o m "$1" || return 1
    near "$(last objective)" "$(awk -v s="$2" -v l="$3" 'BEGIN { printf "%.17g", l * s - l * l / 2 }')" 1e-8 &&
        near "$(last nuc_norm)" "$(awk -v s="$2" -v l="$3" 'BEGIN { printf "%.17g", s - l }')" 1e-4 &&
        near "$(meta lambda_max)" "$2" 1e-9 && test "$(last rank)" = 1
}
ok "one row has the closed form" closed_form row.csv 7 2
ok "equal ratings have the closed form" closed_form equal.csv 6 1.5
ok "a matrix of rank one has the closed form" closed_form rank1.csv "$(awk 'BEGIN { printf "%.17g", sqrt(30 * 14) }')" 5
centred() { # the deviations of 2 3 6 from their mean
    fit --gap 1e-10 --lambda 1 --center global -o m row.csv &&
        near "$(meta center)" "$(awk 'BEGIN { printf "%.17g", 11 / 3 }')" 1e-14 &&
        near "$(last objective)" "$(awk 'BEGIN { m = 11 / 3; s = sqrt((2-m)^2 + (3-m)^2 + (6-m)^2); printf "%.17g", s - 0.5 }')" 1e-9
}
ok "with --center the objective is that of the centred ratings" centred
ok "--lambda-ratio is a fraction of lambda_max" fit --lambda-ratio 0.5 -o m row.csv
ok "and the log says which lambda that is" near "$(meta lambda)" 3.5 1e-12
zero() { fit "$@" && test "$(last objective)/$(last rank)/$(last nuc_norm)" = "$zero_is" && near "$(last gap)" 0 1e-15; }
zero_is=24.5/0/0
ok "lambda = lambda_max gives the zero model" zero --lambda 7 -o m row.csv
ok "with a warning that names both" says 'warning: lambda 7 is not below lambda_max 7'
ok "so does a huge lambda" zero --lambda 1e300 -o m row.csv
fit --lambda 6.999 -o m row.csv
not_ok_if "a lambda just below it causes no warning" grep -q warning err
zero_is=0/0/0
ok "ratings that are all zero have the zero model" zero --lambda-ratio 0.5 -o m zeros.csv
ok "and so have equal ratings after centring" zero --lambda-ratio 0.5 --center global -o m equal.csv
no_penalty() { fit --lambda 0 --rank 1 -o m rank1.csv && near "$(last objective)" 0 1e-3 && test "$(last gap)/$(last rank)" = nan/1; }
ok "--lambda 0 with --rank fits without a penalty, and the gap is nan" no_penalty
ok "--rank beyond the data is cut" fit --lambda 1 --rank 99 -o m rank1.csv
ok "with a note" says 'note: --rank 99: .*using 3'

# ---- the log ----
fit --lambda 3 --test more.csv --valid more.csv --log file.log -o m noise.csv
ok "with --log FILE standard output stays empty" test ! -s log
cp file.log log
keys() { local key; for key in version users items ratings min max mean center lambda lambda_max threads valid_n test_n read_s certificate status; do
    test -n "$(meta $key)" || { echo "no $key"; return 1; }; done; }
ok "the log has every meta line" keys
header=$'iter\ttime_s\tobjective\tdual\tgap\tnuc_norm\trank\ttrain_rmse\tvalid_rmse\ttest_rmse\tmatvecs\tpasses'
ok "the log has one header line" test "$(grep -c "^$header\$" log)" = 1
rows() { awk -F '\t' '/^#/ || /^iter/ { next } NF != 12 || $1 != n++ { exit 1 } END { exit n < 2 }' log; }
ok "every row has 12 fields and the iterations count from 0" rows
monotone() { awk -F '\t' '/^#/ || /^iter/ { next } n++ && ($3 > f * (1 + 1e-12) || $2 < t) { exit 1 } { f = $3; t = $2 } END { exit n < 2 }' log; }
ok "the objective never rises and time never falls" monotone
consistent() { awk -F '\t' '/^[0-9]/ { o = $3; d = $4; g = $5 } END { e = (o - d) / o - g; exit !(e < 1e-12 && e > -1e-12 && g <= 1e-3) }' log; }
ok "gap is (objective - dual) / objective and at most the one wanted" consistent
ok "counts are those of the files" test "$(meta ratings)/$(meta test_n)/$(meta valid_n)" = \
    "$(wc -l <noise.csv)/$(wc -l <more.csv)/$(wc -l <more.csv)"
ok "the last row has the RMSE that eval prints, digit for digit" test "$(last test_rmse)" = \
    "$("$GCG" eval --quiet m more.csv | awk '$1 == "all" { print $3 }')"
ok "without a test set its column is nan" bash -c '"$GCG" fit --quiet --lambda 3 -o m2 noise.csv | grep -v "^#" | tail -n 1 | cut -f 9,10 | grep -qx "nan	nan"'
ok "--log none writes none" bash -c 'test -z "$("$GCG" fit --quiet --log none --lambda 3 -o m2 noise.csv)"'
if command -v gnuplot >/dev/null; then
    grep -v '^# \(status\|certificate\)' file.log | head -n -1 >running.log
    plots() { gnuplot -e 'set terminal dumb; set datafile separator "\t"; set logscale y; plot "'"$1"'" using "time_s":"gap" with lines' 2>&1 | tee plot | grep -q '1' && ! grep -qi 'warning\|error\|undefined' plot; }
    ok "gnuplot plots the log by column name" plots file.log
    ok "gnuplot plots it while the fit runs" plots running.log
else
    skip "gnuplot plots the log by column name" "no gnuplot here"
fi
# A decimal comma: the system's German locale, or one made here.
german=$(locale -a 2>/dev/null | grep -i -m 1 '^de_DE.utf')
if [ -z "$german" ] && localedef -i de_DE -f UTF-8 "$T/de_DE.UTF-8" 2>/dev/null; then
    german=de_DE.UTF-8
    export LOCPATH=$T
fi
if [ -n "$german" ]; then
    commas() { LC_ALL=$german fit --lambda 2.5 -o m2 noise.csv && ! grep -q , log && near "$(meta lambda)" 2.5 0; }
    ok "a locale with decimal commas changes nothing" commas
else
    skip "a locale with decimal commas changes nothing" "no German locale here"
fi
unset LOCPATH
cp file.log log

# ---- model and MODEL.done ----
ok "MODEL.done says how it ended" test "$(done_value exit)/$(done_value status)" = 0/converged
ok "MODEL.done has the figures of the last row" test \
    "$(done_value objective)/$(done_value gap)/$(done_value rank)/$(done_value test_rmse)" = "$(last objective)/$(last gap)/$(last rank)/$(last test_rmse)"
stopped() { # STATUS OPTIONS...
    local status=0 wanted=$1
    shift
    fit "$@" -o early noise.csv || status=$?
    test "$status/$(done_value exit early.done)/$(done_value status early.done)/$(meta status)" = "3/3/$wanted/$wanted" && test -s early
}
ok "--max-iter ends with 3, the model and its status" stopped max_iter --lambda 1 --gap 1e-12 --max-iter 2
ok "after that many iterations" test "$(last iter)" = 2
ok "--max-time ends with 3, the model and its status" stopped max_time --lambda 1 --gap 1e-13 --plain --max-time 0.05
ok "a rank that binds ends with 3, the model and its status" stopped rank_cap --lambda 1 --rank 2
ok "the rank keeps its limit" test "$(last rank)" = 2
ok "a gap below rounding ends with 3, the model and its status" stopped stalled --lambda 1 --gap 1e-16
ok "a model of floats on request" bash -c '"$GCG" fit --quiet --log none --lambda 3 --precision float -o m2 noise.csv && grep -aq "descr.: .<f4" m2'
ok "--plain finds the same objective" bash -c '
    f() { "$GCG" fit --quiet --lambda 3 --gap 1e-6 "$@" -o m2 noise.csv | grep "^[0-9]" | tail -n 1 | cut -f 3; }
    awk -v a="$(f)" -v b="$(f --plain)" "BEGIN { exit !(a / b < 1 + 1e-6 && b / a < 1 + 1e-6) }"'
one_atom() { fit --lambda 3 --atoms 1 -o m2 noise.csv && awk -F '\t' '/^[0-9]/ && $7 > $1 { exit 1 }' log; }
ok "--atoms 1 adds at most one to the rank in an iteration" one_atom
ok "--certify proves the bound" bash -c '"$GCG" fit --quiet --lambda 3 --certify -o m2 noise.csv | grep -qx "# certificate	cholesky"'

# ---- what may not change a byte ----
fit --lambda 3 -o m noise.csv
same() { fit --lambda 3 -o m2 "$@" && cmp m m2; }
for threads in 1 2 7 auto; do ok "the same model with --threads $threads" same --threads $threads noise.csv; done
shuf --random-source=noise.csv noise.csv >shuffled.csv
tr , '\t' <shuffled.csv >shuffled.tsv
gzip -c shuffled.csv >shuffled.csv.gz
split -n l/3 noise.csv part.
ok "the same model of shuffled lines" same shuffled.csv
ok "the same model of a tab file" same shuffled.tsv
ok "the same model of a gzipped file" same shuffled.csv.gz
ok "the same model of several files" same part.ac part.aa part.ab
piped() { "$GCG" fit --quiet --log none --lambda 3 -o m2 - <"$1" && cmp m m2; }
ok "the same model of standard input" piped noise.csv
ok "the same model of gzipped standard input" piped shuffled.csv.gz
ok "the same model with test, validation and clipping" same --test more.csv --valid more.csv --clip 1,5 noise.csv
ok "the same model in another place, at another time" bash -c 'mkdir elsewhere && cd elsewhere && TZ=Asia/Tokyo "$GCG" fit --quiet --log none --lambda 3 -o m3 ../noise.csv && cmp m3 ../m'
clean_model() { ! grep -aq -e "$PWD" -e noise -e threads -e "$(uname -n)" m; }
ok "the model names no path, host or number of threads" clean_model

# ---- test sets ----
ok "--holdout draws a test set" fit --lambda 3 --holdout 0.2 -o h noise.csv
share() { awk -v a="$(meta test_n)" -v b="$(meta ratings)" -v n="$(wc -l <noise.csv)" 'BEGIN { exit !(a + b == n && a / n > 0.15 && a / n < 0.25) }'; }
ok "of about that share, which leaves training" share
held() { cp h h1; fit --lambda 3 --holdout 0.2 -o h "$@" && cmp h h1; }
ok "the order of lines does not change the draw" held shuffled.csv
not_ok_if "another seed does" held --seed 2 noise.csv
head -n 30 noise.csv | cut -d , -f 1,2 >probe.csv
printf '9999,9999\n' >>probe.csv
ok "--test-pairs takes its pairs out of training" fit --lambda 3 --test-pairs probe.csv -o p noise.csv
ok "with their ratings" test "$(meta test_n)/$(meta ratings)" = "30/$(($(wc -l <noise.csv) - 30))"
ok "and a warning counts the pairs that are not there" says 'warning: 1 of 31 pairs of --test-pairs are not'
same_probe() {
    tail -n +31 noise.csv >rest.csv
    head -n 30 noise.csv >taken.csv
    local rmse
    rmse=$(last test_rmse)
    fit --lambda 3 --test taken.csv -o q rest.csv && near "$(last test_rmse)" "$rmse" 1e-9
}
ok "the result is that of two files" same_probe
fit --lambda 3 --test noise.csv -o p noise.csv
ok "test pairs that occur in training are counted and three are shown" \
    says "warning: $(wc -l <noise.csv) of $(wc -l <noise.csv) test pairs occur in training ([0-9]*,[0-9]* [0-9]*,[0-9]* [0-9]*,[0-9]* \.\.\.)"
printf 'x,y,1\n' >strangers.csv
ok "a test set of strangers is fine" fit --lambda 3 --test strangers.csv -o p noise.csv
ok "but causes a warning" says 'warning: none of the test users or items is known'
: >empty.csv
ok "an empty test set is fine" fit --lambda 3 --test empty.csv -o p noise.csv
ok "but causes a warning, too" says 'warning: .*no test ratings'
best() {
    fit --lambda 0.05 --gap 1e-6 --valid more.csv --keep best -o b noise.csv || return 1
    local least
    least=$(awk -F '\t' '/^[0-9]/ && (!n++ || $9 < least) { least = $9 } END { print least }' log)
    test "$("$GCG" eval --quiet b more.csv | awk '$1 == "all" { print $3 }')" = "$least" &&
        test "$(done_value valid_rmse b.done)" = "$least" && awk -v a="$least" -v b="$(last valid_rmse)" 'BEGIN { exit !(a < b) }'
}
ok "--keep best writes the iterate with the smallest validation RMSE" best

# ---- memory ----
ok "--dry-run prints the estimate" bash -c '"$GCG" fit --quiet --lambda 3 --dry-run -o dry noise.csv >plan'
ok "it is the one of check" test "$(head -n 1 plan)" = "$("$GCG" check --quiet noise.csv | grep memory_bytes)"
ok "and writes nothing" test ! -e dry
exits 6 "--max-memory below it ends with 6" fit --lambda 3 --max-memory 1K -o dry noise.csv
ok "the message has both figures" says 'needs about .* ([0-9]* bytes) .*--max-memory allows 1 KiB'
ok "and nothing is written" test ! -e dry -a ! -e dry.done
ok "--max-memory above it is fine" fit --lambda 3 --max-memory 1G -o m2 noise.csv

# ---- words ----
ok "--quiet is silent" bash -c '"$GCG" fit --quiet --lambda 3 -o m2 noise.csv 2>err >/dev/null; test ! -s err'
ok "otherwise the last words are status, objective, gap and rule" bash -c \
    '"$GCG" fit --lambda 3 -o m2 noise.csv 2>err >/dev/null; tail -n 1 err | grep -q "converged after .* objective .*, gap .*(proved by Cholesky), rank .*RMSE"'
fit --lambda 3 --verbose -o m2 noise.csv
ok "--verbose tells the memory" says 'note: memory: about'
ok "and the time of the phases" bash -c 'for p in reading lambda_max polar improve writing; do grep -q "note: time in $p: " err || exit 1; done'
ok "no temporary file is left" nothing_left

done_testing
