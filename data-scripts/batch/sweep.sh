#!/bin/bash
# Fits with many settings, so many at a time, by GNU parallel: sweep.sh JOBS TRAIN VALID FOLDER
#
# Each fit has its own model, log and checkpoint in FOLDER, named after its settings. Started again after it was
# stopped, the sweep leaves out what is done and goes on from the checkpoints of the rest. A table of the settings and
# their validation RMSE comes out at the end, best first. Change the two lists to what you want to try.
set -u
lambda_ratios=(0.2 0.1 0.05 0.02)
norm_weights=(none 0.5 0.8)

if [ "${1-}" = fit ]; then # one fit, called by parallel: fit TRAIN VALID FOLDER RATIO NORM
    model=$4/ratio-$5.norm-$6
    grep -q '"exit": 0' "$model.done" 2>/dev/null && exit 0
    resume=()
    [ -e "$model.ckpt" ] && resume=(--resume "$model.ckpt")
    exec "${GCG_MC:-gcg-mc}" fit --quiet --lambda-ratio "$5" --norm-weights "$6" --center both --valid "$3" \
        --threads "${SWEEP_THREADS:-1}" --log "$model.log" "${resume[@]}" -o "$model" "$2"
fi
if [ $# != 4 ]; then
    echo "usage: sweep.sh JOBS TRAIN VALID FOLDER" >&2
    exit 2
fi
jobs=$1 train=$2 valid=$3 folder=$4
mkdir -p "$folder" || exit 5
parallel --jobs "$jobs" --joblog "$folder/jobs" --halt soon,fail=1 --termseq TERM,60000,KILL,1000 \
    "$0" fit "$train" "$valid" "$folder" ::: "${lambda_ratios[@]}" ::: "${norm_weights[@]}" || exit
for done in "$folder"/*.done; do
    printf '%s\t%s\n' "$(sed -n 's/.*"valid_rmse": \([^,]*\).*/\1/p' "$done")" "$(basename "$done" .done)"
done | sort -n
