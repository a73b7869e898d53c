#!/bin/sh
# MovieLens latest-small: ratings.csv of the release of September 2018. The publisher replaces the set under the same
# name from time to time, so neither size nor check sum of the archive is held against it, only the counts.
# Counts: read off the file itself, for 2018 and for 2016 (671 users, 9,066 items, 100,004 ratings).
# shellcheck disable=SC1091,SC2034,SC2154 # lib.sh stands beside, uses the variables and sets others
title='MovieLens latest-small'
source='Without --from it is downloaded from GroupLens (1 MB). The release of 2016 has --expect 671,9066,100004.'
folder=ml-latest-small
. "$(dirname -- "$0")/lib.sh"

options "$@"
download https://files.grouplens.org/datasets/movielens/ml-latest-small.zip '' ''
gather_all ratings.csv
check_train 610,9724,100836 "$(file ratings.csv)"
fit_line 'not in the paper; lambda 10 suits a set of this size' --lambda 10 --holdout 0.1 "$(file ratings.csv)"
