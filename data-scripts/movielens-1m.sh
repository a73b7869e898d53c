#!/bin/sh
# MovieLens 1M: ratings.dat. The publisher ships no split; the paper trains on a random 75 %.
# Counts: read off the ratings themselves (1M has 3,952 item ids, 3,706 of them rated). Size of ratings.dat: as public
# listings show it. The md5 of the archive: the publisher's.
# shellcheck disable=SC1091,SC2034,SC2154 # lib.sh stands beside, uses the variables and sets others
title='MovieLens 1M'
source='Without --from it is downloaded from GroupLens (6 MB). Its terms forbid passing it on.'
folder=ml-1m
. "$(dirname -- "$0")/lib.sh"

options "$@"
download https://files.grouplens.org/datasets/movielens/ml-1m.zip '' c4d9eecfca2ab87c1945afe126590906
gather_all ratings.dat
check_size ratings.dat 24594131
check_train 6040,3706,1000209 "$(file ratings.dat)"
fit_line 'Table 1 of the paper: ML-1M' --lambda 50 --holdout 0.25 "$(file ratings.dat)"
