#!/bin/sh
# Yahoo! R2 (ratings of songs, 1..5): train_0..9.txt and test_0..9.txt, ten ratings of each user; the ten test files
# become test.txt.
# Counts: from memory; the publisher's readme says "over 717 million", 1.8 million users, 136 thousand songs.
# shellcheck disable=SC1091,SC2034,SC2154 # lib.sh stands beside, uses the variables and sets others
title='Yahoo! R2'
source='Yahoo! Webscope sends it by request (data set R2, two archives, https://webscope.sandbox.yahoo.com).'
folder=ydata-ymusic-user-song-ratings-meta-v1_0
. "$(dirname -- "$0")/lib.sh"

options "$@"
by_request 'cannot be downloaded: ask Yahoo! Webscope for R2 (https://webscope.sandbox.yahoo.com)'
set --
for part in 0 1 2 3 4 5 6 7 8 9; do
    set -- "$@" "train_$part.txt" "test_$part.txt"
done
gather_all "$@"
set --
for part in 0 1 2 3 4 5 6 7 8 9; do
    set -- "$@" "$(file train_$part.txt)"
    plain "$(file test_$part.txt)" || die 5 "$(file test_$part.txt)" "cannot be copied: is it damaged, or the disk full?"
done >"$scratch/test.txt"
mv -f "$scratch/test.txt" "$to/test.txt" || write_failed "$to/test.txt"

doubt=' (the official counts here are from memory)'
check_train 1823179,136736,699640226 "$@"
check_other 1823179,-,18231790 "$to/test.txt"
fit_line 'not in the paper; lambda 100 is that of ML-10M, also 1 to 5 stars: choose your own with --valid' \
    --lambda 100 --test "$to/test.txt" "$@"
