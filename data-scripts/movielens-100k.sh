#!/bin/sh
# MovieLens 100K: u.data and the publisher's splits u1..u5, ua, ub (five folds; ten ratings of each user for testing).
# Counts and sizes: read off the files themselves. Size and md5 of the archive: the publisher's.
# shellcheck disable=SC1091,SC2034,SC2154 # lib.sh stands beside, uses the variables and sets others
title='MovieLens 100K'
source='Without --from it is downloaded from GroupLens (5 MB). Its terms forbid passing it on.'
folder=ml-100k
. "$(dirname -- "$0")/lib.sh"

options "$@"
download https://files.grouplens.org/datasets/movielens/ml-100k.zip 4924029 0e33842e24a9c977be4e0107933c0723
gather_all u.data u1.base u1.test
check_size u.data 1979173
check_size u1.base 1586544
check_size u1.test 392629
gather u2.base u2.test u3.base u3.test u4.base u4.test u5.base u5.test ua.base ua.test ub.base ub.test
[ -z "$missing" ] || say "note: not there, and not needed for the line below:$missing"

check_train 943,1682,100000 "$(file u.data)"
# base and test of each split together are u.data: altered copies of the right size are about.
for split in u1 u2 u3 u4 u5 ua ub; do
    base=$(file $split.base) test=$(file $split.test)
    [ ! -f "$base" ] || [ ! -f "$test" ] || check_train 943,1682,100000 "$base" "$test"
done
fit_line 'not in the paper; lambda 10 suits the split u1' --lambda 10 --test "$(file u1.test)" "$(file u1.base)"
