#!/bin/bash
# Certified optimal values: objective, dual bound and gap of fit against the oracles in ../shared, which were made by
# other programs. Needs ../shared.
. "$(dirname "$0")/lib.sh"
[ -d "${SHARED:-/nowhere}/oracles" ] || skip_all "no ../shared/oracles"
cd "$T" || exit 1

# fit_to FILE LAMBDA GAP [OPTION...]: the log's last row in `row`.
fit_to() {
    "$GCG" fit --quiet --log log --lambda "$2" --gap "$3" -o m "${@:4}" "$1" && grep -v '^#' log | tail -n 1 >row
}
lambda_max() { "$GCG" check --lambda-max "$1" 2>/dev/null | awk -F '\t' '$1 == "lambda_max" { print $2 }'; }
near() { awk -v x="$1" -v y="$2" -v tol="$3" 'BEGIN { d = x - y; exit !(x != "" && d <= tol && -d <= tol) }'; }

# objective in [lower - tol, upper (1 + gap) + tol], bound <= upper + tol, gap reached, and not below the true one
honest() { # LOWER UPPER GAP TOL
    awk -F '\t' -v lower="$1" -v upper="$2" -v wanted="$3" -v tol="$4" '{
        objective = $3; dual = $4; gap = $5
        ok = objective >= lower - tol && objective <= upper * (1 + wanted) + tol && dual <= upper + tol &&
             gap <= wanted && gap * objective >= objective - upper - tol
        if (!ok) print "objective " objective ", dual " dual ", gap " gap ", optimum in [" lower ", " upper "]"
        exit !ok
    }' row
}

# Small problems to 1e-10.
while IFS=$'\037' read -r id kind files params quantity value tol lower upper _; do
    [ "$kind" = mc ] || continue
    file=$SHARED/oracles/$files
    case $quantity in
    lambda_max) ok "$id: lambda_max" near "$(lambda_max "$file")" "$value" "$tol" ;;
    'F*')
        lambda=${params#lambda=}
        ok "$id, lambda $lambda: the fit to 1e-10 ends with exit 0" fit_to "$file" "$lambda" 1e-10
        ok "$id, lambda $lambda: objective and bound enclose the optimum" honest "${lower:-$value}" "${upper:-$value}" 1e-10 "$tol"
        ;;
    trace_norm*) # within (sqrt(n) rmse sqrt(2 g) + g) / lambda of the optimum's, g the absolute gap reached
        ratings=$(awk '!/^%/ { print $3; exit }' "$file")
        # shellcheck disable=SC2016 # awk's variables
        ok "$id, $params: trace norm" awk -F '\t' -v n="$ratings" -v want="$value" -v lambda="${params#lambda=}" '{
            g = $5 * $3; tol = (sqrt(n) * $8 * sqrt(2 * g) + g) / lambda + 1e-6; d = $6 - want
            exit !(d <= tol && -d <= tol) }' row
        ;;
    esac
done < <(tr '\t' '\037' <"$SHARED/oracles/oracles.tsv") # read would merge tabs around an empty field

# MovieLens.
data() { # PROBLEM: its training file
    case $1 in
    ml-100k-u1) echo "$SHARED/data/ml-100k/u1.base" ;;
    ml-1m-split) echo "$SHARED/data/ml-1m/train.tsv.gz" ;;
    esac
}
# With sanitizers only what takes seconds.
slow=0
"$GCG" --version | grep -q fsanitize && slow=1
while IFS=$'\037' read -r problem centre lambda kind lower upper _; do
    [ "$kind" = oracle ] || continue
    case $centre in
    none) center=none ;;
    mean+biases) center=both ;;
    *) continue ;;
    esac
    case "$problem $lambda" in
    'ml-1m-split 50') gaps='1e-3 1e-5' ;;
    'ml-1m-split 30')
        [ $slow = 0 ] || continue
        gaps='1e-3 1e-5'
        ;;
    ml-1m-split*)
        [ $slow = 0 ] || continue
        gaps=1e-3
        ;;
    *' 20' | *' 10' | *' 5') gaps='1e-3 1e-5' ;;
    *)
        [ $slow = 0 ] || continue
        gaps='1e-3 1e-5'
        ;;
    esac
    for gap in $gaps; do
        what="$problem, centre $centre, lambda $lambda, gap $gap"
        if [ ! -e "$(data "$problem")" ]; then
            skip "$what" "no $(data "$problem")"
            continue
        fi
        ok "$what: exit 0" fit_to "$(data "$problem")" "$lambda" "$gap" --center "$center"
        ok "$what: objective and bound enclose the certified optimum" \
            honest "$lower" "$upper" "$gap" "$(awk -v u="$upper" 'BEGIN { print 1e-9 * u }')"
    done
done < <(tr '\t' '\037' <"$SHARED/oracles/matrix-completion.tsv")
done_testing
