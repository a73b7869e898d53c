#!/bin/sh
# Netflix Prize: training_set/, a folder of mv_NNNNNNN.txt or of combined_data_1..4.txt, and probe.txt, whose pairs
# leave the training set and become the test set (99,072,112 and 1,408,395 ratings).
# Counts: users, movies and the sizes of probe.txt and qualifying.txt as in the publisher's readme, ratings as public
# loaders state them; the number of probe pairs from memory. Table 1 of the paper has 2,549,429 users, near the largest id.
# shellcheck disable=SC1091,SC2034,SC2154 # lib.sh stands beside, uses the variables and sets others
title='the Netflix Prize data'
source='The publisher has withdrawn it: a copy from then is needed, as shipped (nf_prize_dataset.tar.gz, or training_set.tar
or training_set/, with probe.txt) or in the layout with combined_data_1.txt .. combined_data_4.txt.'
folder=download
. "$(dirname -- "$0")/lib.sh"

# $to/training_set, from the first layout that is there: a link to the folder, or a folder of files.
lay_out_ratings() {
    for training in "$from/training_set" "$from/$folder/training_set" ''; do
        [ ! -d "$training" ] || break
    done
    if [ -n "$training" ]; then
        place "$training"
        return
    fi
    no_folder training_set
    if [ -f "$to/combined_data_1.txt" ]; then
        mkdir "$scratch/training_set"
        for part in 1 2 3 4; do
            [ -f "$to/combined_data_$part.txt" ] || die 5 "$from" "has combined_data_1.txt but not combined_data_$part.txt; complete it"
            mv "$to/combined_data_$part.txt" "$scratch/training_set" || write_failed "$to/training_set"
        done
    elif [ -f "$to/training_set.tar" ]; then
        tar -xf "$to/training_set.tar" -C "$scratch" ||
            die 5 "$to/training_set.tar" "cannot be unpacked: it is damaged or cut short, or the disk is full"
        [ -d "$scratch/training_set" ] || die 4 "$to/training_set.tar" "has no folder training_set; get another copy"
        # shellcheck disable=SC3013 # as in lib.sh
        [ "$from" -ef "$to" ] || rm -f "$to/training_set.tar"
    else
        die 5 "$from" "has no training_set/, training_set.tar, nf_prize_dataset.tar.gz or combined_data_1.txt; complete it"
    fi
    mv "$scratch/training_set" "$to/training_set" || write_failed "$to/training_set"
}

options "$@"
by_request 'cannot be downloaded: the publisher has withdrawn it. Find a copy that you may use'
gather probe.txt qualifying.txt training_set.tar \
    combined_data_1.txt combined_data_2.txt combined_data_3.txt combined_data_4.txt
lay_out_ratings
[ -f "$to/probe.txt" ] || die 5 "$from" "has no probe.txt, neither as a file, in $folder/ nor in an archive; complete the folder"
check_size probe.txt 10782692
check_size qualifying.txt 52452386

check_train 480189,17770,100480507 "$to/training_set"
pairs=$(grep -Ec '^[0-9]+[[:space:]]*$' "$to/probe.txt")
if [ "$pairs" = 0 ] || [ -z "$expect" ] && [ "$pairs" != 1408395 ]; then
    die 4 "$to/probe.txt" "$pairs pairs, should be ${expect:+some, officially }1408395; it is cut short or altered: get it again"
fi
say "$to/probe.txt: pairs = $pairs"
fit_line 'Table 1 of the paper: Netflix' --lambda 1 --test-pairs "$to/probe.txt" "$to/training_set"
