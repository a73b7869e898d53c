#!/bin/sh
# MovieLens 10M: ratings.dat, and from it ra.train and ra.test by the rule of the split ra that the publisher ships as
# a script: the first ten ratings of each user, in the order of the file, are for testing. That gives 9,301,274 and
# 698,780 ratings; Table 1 of the paper has 9,301,174 and 698,599.
# Counts: as public loaders state them; the publisher's readme has other users and items (largest id, titles). Size of
# ratings.dat: as public listings show it. Size and md5 of the archive: the publisher's.
# shellcheck disable=SC1091,SC2034,SC2154 # lib.sh stands beside, uses the variables and sets others
title='MovieLens 10M'
source='Without --from it is downloaded from GroupLens (63 MB). Its terms forbid passing it on.'
folder=ml-10M100K
. "$(dirname -- "$0")/lib.sh"

options "$@"
download https://files.grouplens.org/datasets/movielens/ml-10m.zip 65566137 ce571fd55effeba0271552578f2648bd
gather_all ratings.dat
check_size ratings.dat 265105635
check_train 69878,10677,10000054 "$(file ratings.dat)"

{
    : >"$scratch/ra.train" && : >"$scratch/ra.test" &&
        plain "$(file ratings.dat)" | train=$scratch/ra.train test=$scratch/ra.test awk -F : '
            { print > ENVIRON[++ratings[$1] <= 10 ? "test" : "train"] }' &&
        mv -f "$scratch/ra.train" "$scratch/ra.test" "$to"
} || write_failed "$to/ra.train"
check_other 69878,-,9301274 "$to/ra.train"
check_other 69878,-,698780 "$to/ra.test"
fit_line 'Table 1 of the paper: ML-10M' --lambda 100 --test "$to/ra.test" "$to/ra.train"
