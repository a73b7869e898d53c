#!/bin/sh
# MovieLens 25M: ratings.csv. The publisher ships no split.
# Counts: ratings and users as in the publisher's readme (its 62,423 movies include unrated ones), rated movies as
# public users of the set state them. Size and md5 of the archive: the publisher's.
# shellcheck disable=SC1091,SC2034,SC2154 # lib.sh stands beside, uses the variables and sets others
title='MovieLens 25M'
source='Without --from it is downloaded from GroupLens (250 MB). Read its terms before passing it on.'
folder=ml-25m
. "$(dirname -- "$0")/lib.sh"

options "$@"
download https://files.grouplens.org/datasets/movielens/ml-25m.zip 261978986 6b51fb2759a8657d3bfcbfc42b592ada
gather_all ratings.csv
check_train 162541,59047,25000095 "$(file ratings.csv)"
fit_line 'not in the paper; lambda 100 is that of ML-10M: choose your own with --valid' \
    --lambda 100 --holdout 0.1 "$(file ratings.csv)"
