# Sourced by the scripts beside it, one per public data set: options, download, unpacking, checks, messages.
# It knows no data set. A script sets
#     title   the set's name in sentences
#     source  for --help: where the set comes from, lines
#     folder  the folder inside the publisher's archive, empty for any
# calls options "$@", then the functions below, and ends with fit_line. Standard output has that line only.
# shellcheck shell=sh disable=SC2154 # title, source and folder come from the script
set -u
LC_ALL=C
export LC_ALL
unset CDPATH
self=${0##*/}
set_name=${self%.sh}
from='' to=$set_name expect='' url='' url_bytes='' url_md5='' missing='' doubt=''

say() { printf '%s: %s\n' "$self" "$*" >&2; }
die() { # STATUS WHERE TEXT
    printf '%s: %s: error: %s\n' "$self" "$2" "$3" >&2
    exit "$1"
}

usage() {
    cat <<EOF
usage: $self [--from DIR] [--to DIR] [--expect USERS,ITEMS,RATINGS]

Lays out $title for gcg-mc, checks sizes and counts, and prints the gcg-mc fit line for it.
$source

options:
  --from DIR    take the publisher's archive, or its files unpacked, from DIR; nothing is downloaded
  --to DIR      lay the files out in DIR (./$to); files that --from has unpacked become symbolic links
  --expect USERS,ITEMS,RATINGS
                counts of the training data to check in place of the official ones, - for any; official sizes and
                check sums then do not count. For extracts and other releases
  --help        print this and stop

Counting is done by gcg-mc check: the program that GCG_MC names, or ../gcg-mc beside the scripts, or the one in PATH.
It takes about 24 bytes of memory for each rating. Exit status: 0 done, 2 usage, 4 wrong size, check sum or count,
5 missing file or program, download or write failed, 6 out of memory.
EOF
}

options() {
    while [ $# -gt 0 ]; do
        case $1 in
        --from=* | --to=* | --expect=*) option=${1%%=*} value=${1#*=} ;;
        --from | --to | --expect)
            [ $# -ge 2 ] || die 2 "$1" "needs a value; see $self --help"
            option=$1 value=$2
            shift
            ;;
        --help)
            usage
            exit 0
            ;;
        *) die 2 "$1" "unknown option or argument; see $self --help" ;;
        esac
        shift
        [ -n "$value" ] || die 2 "$option" "its value is empty; see $self --help"
        case $option,$value in
        --expect,*) expect=$value ;;
        --from,-*) from=./$value ;;
        --from,*) from=$value ;;
        --to,-*) to=./$value ;;
        --to,*) to=$value ;;
        esac
    done
    [ -z "$expect" ] || printf '%s\n' "$expect" | grep -Eqx '([0-9]+|-),([0-9]+|-),([0-9]+|-)' ||
        die 2 --expect "'$expect' is not USERS,ITEMS,RATINGS; write it like 943,1682,100000"
    find_program
    if [ -n "$from" ]; then
        [ -d "$from" ] || die 5 "$from" "no such folder; give --from the folder with the archive or the unpacked files"
        if [ ! -r "$from" ] || [ ! -x "$from" ]; then die 5 "$from" "no permission to read this folder"; fi
    fi
}

find_program() {
    beside=$(dirname -- "$0")/../gcg-mc
    if [ -n "${GCG_MC-}" ]; then
        gcg_mc=$GCG_MC
    elif [ -x "$beside" ] && [ ! -d "$beside" ]; then
        gcg_mc=$beside
    else
        gcg_mc=gcg-mc
    fi
    command -v "$gcg_mc" >/dev/null 2>&1 ||
        die 5 "$gcg_mc" "program not found; build it with make, or let GCG_MC name it"
}

# ---- files: everything is made under a temporary name in $to and renamed when complete ----
clean_up() { [ -z "${scratch-}" ] || rm -rf "$scratch"; }
trap clean_up EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM

prepare_target() {
    mkdir -p "$to" 2>/dev/null || die 5 "$to" "cannot make this folder; give --to a folder that you may write to"
    scratch=$to/.unpack.$$
    mkdir "$scratch" 2>/dev/null || die 5 "$to" "cannot write to this folder; give --to a folder that you may write to"
}
write_failed() { die 5 "$1" "cannot write it; is the disk full, or is there no permission? Free space or give another --to"; }

# The publisher does not let it be downloaded: TEXT says where to ask.
by_request() {
    [ -n "$from" ] || die 5 "$title" "$1; then run this again with --from FOLDER"
    prepare_target
}

# download URL BYTES MD5: from the publisher, unless --from is given; $from is the folder with the archive afterwards.
# BYTES or MD5 is empty where the publisher may change the file.
download() {
    url=$1 url_bytes=$2 url_md5=$3
    prepare_target
    [ -z "$from" ] || return 0
    from=$to
    if [ -f "$to/${url##*/}" ]; then
        say "using $to/${url##*/}, which is there already"
        return 0
    fi
    say "downloading $url"
    if command -v curl >/dev/null 2>&1; then
        fetcher=curl
        curl -fsSL --retry 3 -o "$scratch/archive" "$url" >&2
    elif command -v wget >/dev/null 2>&1; then
        fetcher=wget
        wget -nv -O "$scratch/archive" "$url" >&2
    else
        die 5 "$url" "neither curl nor wget is installed; install one, or fetch it by hand and use --from FOLDER"
    fi || die 5 "$url" "download failed ($fetcher ended with $?) and nothing was kept; run this again, or fetch it by hand and use --from FOLDER"
    check_archive "$scratch/archive" "$url"
    mv -f "$scratch/archive" "$to/${url##*/}" || write_failed "$to/${url##*/}"
}

check_archive() { # FILE NAME
    [ -z "$expect" ] || return 0
    right_size "$1" "$2" "$url_bytes"
    if [ -z "$url_md5" ] || ! command -v md5sum >/dev/null 2>&1; then return 0; fi
    sum=$(md5sum <"$1") || die 5 "$2" "cannot read it"
    [ "${sum%% *}" = "$url_md5" ] ||
        die 4 "$2" "md5 ${sum%% *}, the publisher's is $url_md5; the file is damaged: remove it and fetch it again"
}

right_size() { # FILE NAME BYTES
    [ -n "$3" ] || return 0
    bytes=$(wc -c <"$1") || die 5 "$2" "cannot read it"
    [ $((bytes)) = "$3" ] ||
        die 4 "$2" "$((bytes)) bytes, should be $3; it is cut short or altered: remove it and fetch it again, or use --expect if it is meant to differ"
}

# file NAME: where it was laid out, plain or gzip.
file() { if [ -f "$to/$1" ] || [ ! -f "$to/$1.gz" ]; then printf '%s\n' "$to/$1"; else printf '%s\n' "$to/$1.gz"; fi; }

plain() { case $1 in *.gz) gzip -dc "$1" ;; *) cat "$1" ;; esac }

absolute() { printf '%s/%s\n' "$(cd "$(dirname -- "$1")" && pwd -P)" "${1##*/}"; }

# place FILE: a symbolic link to it in $to. A hard link would let chmod in $to reach the original.
place() {
    # shellcheck disable=SC3013 # -ef: every sh has it, and POSIX since 2024
    [ ! "$1" -ef "$to/${1##*/}" ] || return 0
    no_folder "${1##*/}"
    remove_old "${1##*/}"
    ln -s "$(absolute "$1")" "$to/${1##*/}" || write_failed "$to/${1##*/}"
}
no_folder() { # NAME: nothing of the user's is removed
    if [ -d "$to/$1" ] && [ ! -h "$to/$1" ]; then die 5 "$to/$1" "is there already; remove it, or give another --to"; fi
}
remove_old() { rm -f "$to/${1%.gz}" "$to/${1%.gz}.gz" || write_failed "$to/$1"; } # NAME, plain or gzip

# gather NAME...: lays out each file NAME (or NAME.gz) that $from, $from/$folder or an archive in $from has. $missing
# has the others. Each archive is listed and unpacked once.
gather() {
    missing=''
    for name; do
        for path in "$from/$name" "$from/$name.gz" "$from/$folder/$name" "$from/$folder/$name.gz" ''; do
            [ ! -f "$path" ] || break
        done
        if [ -n "$path" ]; then place "$path"; else missing="$missing $name"; fi
    done
    for archive in "$from"/*.zip "$from"/*.tgz "$from"/*.tar.gz "$from"/*.tar; do
        [ -z "$missing" ] || [ ! -f "$archive" ] || unpack "$archive"
    done
}

gather_all() { # NAME...: all are needed
    gather "$@"
    [ -z "$missing" ] || die 5 "$from" "has no$missing, neither as files${folder:+, in $folder/} nor in an archive (.zip .tgz .tar.gz .tar); complete the folder"
}

# unpack ARCHIVE: lays out those of its files that are still missing: at its top or in $folder (anywhere if that is empty).
unpack() {
    case $1 in
    *.zip) list=$(unzip -Z1 "$1") ;;
    *) list=$(tar -tf "$1") ;;
    esac || {
        say "$1: warning: skipped, it cannot be listed: it is damaged or cut short, or unzip is not installed"
        return 0
    }
    members=$(printf '%s\n' "$list" | awk -v names="$missing" -v folder="$folder" '
        BEGIN { split(names, name, " "); for (k in name) wanted[name[k]] = 1 }
        /(^|\/)\.\.\// { next }
        { n = split($0, part, "/"); base = part[n]; sub(/\.gz$/, "", base) }
        !(base in wanted) { next }
        folder == "" || n == 1 || part[n - 1] == "." || part[n - 1] == folder { print; delete wanted[base] }')
    [ -n "$members" ] || return 0
    [ "${1##*/}" != "${url##*/}" ] || check_archive "$1" "$1"
    set -- "$1"
    while IFS= read -r member; do
        set -- "$@" "$member"
    done <<EOF
$members
EOF
    archive_file=$1
    shift
    case $archive_file in
    *.zip) unzip -q -o -d "$scratch" "$archive_file" "$@" >&2 ;;
    *) tar -xf "$archive_file" -C "$scratch" "$@" ;;
    esac || die 5 "$archive_file" "cannot be unpacked; it is damaged, or the disk is full: see the message above"
    for member; do
        base=${member##*/}
        remove_old "$base"
        mv -f "$scratch/$member" "$to/$base" || write_failed "$to/$base"
        missing=$(printf '%s ' "$missing" | sed "s/ ${base%.gz} / /; s/ *\$//")
    done
}

# ---- checks ----
check_size() { # NAME BYTES: of a plain file as shipped
    if [ -z "$expect" ] && [ -f "$to/$1" ]; then right_size "$to/$1" "$to/$1" "$2"; fi
}

# check_train USERS,ITEMS,RATINGS ARGUMENT...: official counts, or those of --expect. check_other: official counts of
# another file, which --expect leaves open. - is any. ARGUMENTs are for gcg-mc check; the last one is a file.
check_train() {
    official=$1
    shift
    counts "${expect:-$official}" "$@"
}
check_other() {
    official=$1
    shift
    [ -z "$expect" ] || official=-,-,-
    counts "$official" "$@"
}
counts() {
    wanted=$1
    shift
    for where; do :; done
    status=0
    table=$("$gcg_mc" check --quiet "$@") || status=$?
    case $status in
    0) ;;
    6) die 6 "$where" "not enough memory to count it: about 24 bytes are needed for each rating" ;;
    *) die "$status" "$where" "gcg-mc check does not accept it, see the message above; fetch it again from the publisher" ;;
    esac
    found=$(printf '%s\n' "$table" | awk -F '\t' '{ value[$1] = $2 }
        END { print value["users"] "," value["items"] "," value["ratings"] }')
    wrong=$(printf '%s,%s\n' "$wanted" "$found" | awk -F , '{
        split("users items ratings", name, " ")
        for (k = 1; k <= 3; k++) if ($k != "-" && $k + 0 != $(k + 3) + 0)
            printf "%s%d %s, should be %d", found++ ? "; " : "", $(k + 3), name[k], $k }')
    [ -z "$wrong" ] ||
        die 4 "$where" "$wrong; the data are cut short, altered or another release: fetch them again, or use --expect $found if they are meant to be so$doubt"
    say "$where: users,items,ratings = $found"
}

# ---- the end ----
quote() { # WORD...: as a shell reads them back
    for word; do
        case $word in
        *[!A-Za-z0-9_./,:=+-]*) printf " '%s'" "$(printf '%s\n' "$word" | sed "s/'/'\\\\''/g")" ;;
        *) printf ' %s' "$word" ;;
        esac
    done
}

# fit_line WHY ARGUMENT...: prints gcg-mc fit with them and a model in $to.
fit_line() {
    say "$1"
    shift
    line=$(quote "$gcg_mc" fit "$@" -o "$to/$set_name.npz")
    printf '%s\n' "${line# }"
}
