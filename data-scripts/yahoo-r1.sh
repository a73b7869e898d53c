#!/bin/sh
# Yahoo! R1 (ratings of musical artists, 0..100; 255 is "never play again"). The publisher ships no split.
# Counts: users and artists as in the publisher's readme. Its 11,557,943 ratings are a tenth of what the file has:
# 115,579,440 by two public users of the set. Yahoo60M of the paper has 98,130 x 1,738,442 and 80,893,796 ratings, so
# it is taken to be R1 without the 255s, with a random 75 % for training.
# shellcheck disable=SC1091,SC2034,SC2154 # lib.sh stands beside, uses the variables and sets others
title='Yahoo! R1'
source='Yahoo! Webscope sends it by request (data set R1, https://webscope.sandbox.yahoo.com).'
folder=''
. "$(dirname -- "$0")/lib.sh"

options "$@"
by_request 'cannot be downloaded: ask Yahoo! Webscope for R1 (https://webscope.sandbox.yahoo.com)'
gather_all ydata-ymusic-user-artist-ratings-v1_0.txt
ratings=$(file ydata-ymusic-user-artist-ratings-v1_0.txt)
check_train 1948882,98211,115579440 --format yahoo-r1 "$ratings"
fit_line 'Table 1 of the paper: Yahoo60M' \
    --lambda 300 --format tsv --value-map 255=drop --holdout 0.25 "$ratings"
