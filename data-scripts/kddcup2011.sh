#!/bin/sh
# KDD Cup 2011, Track 1 (Yahoo! Music, scores 0..100): trainIdx1.txt, with validationIdx1.txt as the test set, as in
# the paper. testIdx1.txt has no scores; it is laid out too where it is there.
# Counts: ratings, users and the 624,961 items of the three files together as in the contest's own statistics; how many
# of the items each file has is not known.
# shellcheck disable=SC1091,SC2034,SC2154 # lib.sh stands beside, uses the variables and sets others
title='KDD Cup 2011 Track 1'
source='Yahoo! Webscope sends it by request (data set C15, https://webscope.sandbox.yahoo.com).'
folder=ydata-ymusic-kddcup-2011-track1
. "$(dirname -- "$0")/lib.sh"

options "$@"
by_request 'cannot be downloaded: ask Yahoo! Webscope for C15 (https://webscope.sandbox.yahoo.com)'
gather_all trainIdx1.txt validationIdx1.txt
gather testIdx1.txt
train=$(file trainIdx1.txt) test=$(file validationIdx1.txt)
check_train 1000990,-,252800275 "$train"
check_other 1000990,-,4003960 "$test"
fit_line 'Table 1 of the paper: Yahoo252M' --lambda 100 --test "$test" "$train"
