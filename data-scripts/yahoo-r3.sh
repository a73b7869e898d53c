#!/bin/sh
# Yahoo! R3 (ratings of songs, 1..5): users' own choice of songs for training, songs drawn at random for testing. The
# two differ in mean (2.89 and 1.82) on purpose.
# Counts: read off the files themselves.
# shellcheck disable=SC1091,SC2034,SC2154 # lib.sh stands beside, uses the variables and sets others
title='Yahoo! R3'
source='Yahoo! Webscope sends it by request (data set R3, https://webscope.sandbox.yahoo.com).'
folder=''
. "$(dirname -- "$0")/lib.sh"

options "$@"
by_request 'cannot be downloaded: ask Yahoo! Webscope for R3 (https://webscope.sandbox.yahoo.com)'
gather_all ydata-ymusic-rating-study-v1_0-train.txt ydata-ymusic-rating-study-v1_0-test.txt
train=$(file ydata-ymusic-rating-study-v1_0-train.txt) test=$(file ydata-ymusic-rating-study-v1_0-test.txt)
check_train 15400,1000,311704 "$train"
check_other 5400,1000,54000 "$test"
fit_line 'not in the paper; lambda 10 suits a set of this size' --lambda 10 --test "$test" "$train"
