#!/bin/sh
# MovieLens 20M: ratings.csv. The publisher ships no split.
# Counts: as public loaders state them. Size and md5 of the archive: the publisher's.
# shellcheck disable=SC1091,SC2034,SC2154 # lib.sh stands beside, uses the variables and sets others
title='MovieLens 20M'
source='Without --from it is downloaded from GroupLens (190 MB). Read its terms before passing it on.'
folder=ml-20m
. "$(dirname -- "$0")/lib.sh"

options "$@"
download https://files.grouplens.org/datasets/movielens/ml-20m.zip 198702078 cd245b17a1ae2cc31bb14903e1204af3
gather_all ratings.csv
check_train 138493,26744,20000263 "$(file ratings.csv)"
fit_line 'not in the paper; lambda 100 is that of ML-10M: choose your own with --valid' \
    --lambda 100 --holdout 0.1 "$(file ratings.csv)"
