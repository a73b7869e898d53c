#!/bin/bash
# Completion for bash, zsh and fish: made from the tables of options, so everything that --help lists is completed.
# shellcheck disable=SC1091,SC2016,SC2317 # lib.sh stands beside; programs in quotes are for other shells
. "$(dirname "$0")/lib.sh"
cd "$T" || exit 1

gcg() { "$GCG" "$@" >out 2>err; }
says() { grep -q -e "$1" err || { cat err; return 1; }; }
commands=$("$GCG" --help | awk '/^  [a-z]/ { print $1 }')
options() { "$GCG" "$1" --help | grep -oE '^  (-., |    )--[a-z-]+' | grep -oE -e '--?[a-z-]+' | sort -u; }

for shell in bash zsh fish; do
    ok "completion $shell ends with 0" gcg completion $shell
    ok "and goes to standard output alone" bash -c 'test -s out && test ! -s err'
    mv out "gcg-mc.$shell"
done
exits 2 "an unknown shell is a usage error" gcg completion csh
ok "with the known ones" says 'completion csh: there are bash, zsh and fish'
exits 2 "and so are two" gcg completion bash zsh
exits 5 "a full disk is an error" bash -c '"$GCG" completion bash >/dev/full 2>err'

# ---- bash ----
mkdir -p files/folder && touch 'files/a b.csv' files/model files/train.csv files/-x
cat >complete.sh <<'EOF'
# bash complete.sh FILE WORD...: what FILE completes the last WORD to, one a line
source "$1" || exit 1
shift
cd files || exit 1
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
_gcg_mc gcg-mc "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD-1]}"
[ ${#COMPREPLY[@]} = 0 ] || printf '%s\n' "${COMPREPLY[@]}"
EOF
completes() { # WANTED WORD...: to exactly the words of WANTED (| between), in any order
    bash -u complete.sh "$T/gcg-mc.bash" "${@:2}" 2>err | sort >got
    test ! -s err && diff <(tr '|' '\n' <<<"$1" | grep . | sort) got
}
ok "bash takes the script" bash -n gcg-mc.bash
ok "and registers a function" bash -c 'source gcg-mc.bash && complete -p gcg-mc | grep -q _gcg_mc'
ok "the first word is a subcommand, help or a general option" completes "$(tr '\n' '|' <<<"$commands")help|--help|--version" gcg-mc ''
ok "or what begins like it" completes 'export|eval' gcg-mc e
for command in $commands; do
    ok "all options of $command are completed" completes "$(options "$command" | grep -e -- | tr '\n' '|')" gcg-mc "$command" --
    ok "and with one dash the short ones, too" completes "$(options "$command" | tr '\n' '|')" gcg-mc "$command" -
done
ok "an option that is begun" completes '--lambda|--lambda-ratio' gcg-mc fit --lam
ok "a choice" completes 'none|global|user|item|both' gcg-mc fit --center ''
ok "a choice that is begun" completes 'float' gcg-mc fit train.csv --precision f
ok "after an equals sign, which bash takes for a word" completes 'first' gcg-mc fit --duplicates = f
ok "right after it" completes 'npy|tsv|mtx' gcg-mc export --to =
ok "a word beside a number" completes auto gcg-mc fit --threads ''
ok "nothing where a number is wanted" completes '' gcg-mc fit --gap ''
all_files='a b.csv|model|train.csv|folder|-x'
ok "file names after -o" completes "$all_files" gcg-mc fit -o ''
ok "and after --output" completes "model" gcg-mc fit --output m
ok "with a blank in them" completes 'a b.csv' gcg-mc fit --valid a
ok "files or a word after --log" completes "none|-|$all_files" gcg-mc fit --log ''
ok "files where a word may stand" completes "$all_files" gcg-mc predict ''
ok "also after a number" completes "$all_files" gcg-mc fit --lambda 5 ''
ok "and a flag" completes "$all_files" gcg-mc fit --quiet ''
ok "no options after --" completes '-x' gcg-mc check -- -
ok "the shells" completes 'bash|zsh|fish' gcg-mc completion ''
ok "topics of help" completes 'exit-codes|export|eval' gcg-mc help e
ok "nothing of an unknown subcommand but files" completes "$all_files" gcg-mc nosuch ''

# ---- zsh ----
if command -v zsh >/dev/null; then
    cat >complete.zsh <<'EOF'
# zsh -f complete.zsh WORD...: the specifications that the function hands to zsh for the last WORD
_arguments() { print -rl -- "$@" }
_describe() { print -rl -- "${(@P)2}" }
compdef() { print -r -- "registered $*" >&2 }
source ./gcg-mc.zsh || exit 1
words=("$@") CURRENT=$#
_gcg-mc
EOF
    zsh_sees() { zsh -f complete.zsh "${@:2}" >got 2>err && grep -qxF -e "$1" got || { cat got err; return 1; }; }
    ok "zsh takes the script" zsh -n gcg-mc.zsh
    ok "and registers a function" bash -c 'zsh -f complete.zsh gcg-mc "" 2>&1 | grep -qx "registered _gcg-mc gcg-mc"'
    for command in $commands; do
        summary=$("$GCG" --help | sed -n "s/^  $command  *//p")
        ok "it offers $command" zsh_sees "$command:$(sed 's/:/\\:/g' <<<"$summary")" gcg-mc ''
        zsh -f complete.zsh gcg-mc "$command" '' 2>/dev/null | grep -oE '^(\([^)]*\))?\*?--?[a-z-]+' | grep -oE -e '--?[a-z-]+' | sort -u >got
        ok "all options of $command" diff <(options "$command") got
    done
    ok "a choice" zsh_sees '*--keep=[which iterate to write; best = smallest validation RMSE]:last|best:(last best)' gcg-mc fit ''
    ok "a file" bash -c 'zsh -f complete.zsh gcg-mc fit "" 2>/dev/null | grep -q "^(-o --output)--output=\[.*\]:MODEL:_files$"'
    ok "the shells" zsh_sees '1:word:(bash zsh fish)' gcg-mc completion ''
    ok "a real zsh loads it" zsh -fc 'autoload -Uz compinit; compinit -u -D; source ./gcg-mc.zsh; [[ $_comps[gcg-mc] == _gcg-mc ]]'
else
    skip "zsh takes the script" "no zsh here"
fi

# ---- fish ----
if command -v fish >/dev/null; then
    fish_completes() { # WANTED LINE
        HOME=$T XDG_CONFIG_HOME=$T XDG_DATA_HOME=$T fish -c 'source gcg-mc.fish; cd files; complete -C $argv[1]' "$2" 2>err | cut -f 1 | sort >got
        diff <(tr '|' '\n' <<<"$1" | grep . | sort) got
    }
    ok "fish takes the script" fish -n gcg-mc.fish
    ok "the first word is a subcommand or help" fish_completes "$(tr '\n' '|' <<<"$commands")help" 'gcg-mc '
    for command in $commands; do
        ok "all options of $command" fish_completes "$(options "$command" | grep -e -- | tr '\n' '|')" "gcg-mc $command --"
    done
    ok "a choice" fish_completes 'none|global|user|item|both' 'gcg-mc fit --center '
    ok "files after -o" fish_completes 'model' 'gcg-mc fit -o m'
    ok "files or a word after --log" fish_completes 'none' 'gcg-mc fit --log n'
    ok "nothing where a number is wanted" fish_completes '' 'gcg-mc fit --gap '
    ok "topics of help" fish_completes 'exit-codes|export|eval' 'gcg-mc help e'
else
    skip "fish takes the script" "no fish here"
fi

# ---- make install ----
mkdir -p fake && cp "$GCG" fake/gcg-mc
if make -s -C "$ROOT" -n install >/dev/null 2>&1; then
    install() { make -s -C "$ROOT" -o all "$1" PROGRAM="$T/fake/gcg-mc" BUILD="$T/fake/build" DESTDIR="$T/root" prefix=/usr; }
    ok "make install puts them where the shells look" install install
    ok "the same scripts" bash -c 'cmp gcg-mc.bash root/usr/share/bash-completion/completions/gcg-mc &&
        cmp gcg-mc.zsh root/usr/share/zsh/site-functions/_gcg-mc && cmp gcg-mc.fish root/usr/share/fish/vendor_completions.d/gcg-mc.fish'
    ok "and uninstall takes everything away" bash -c "$(declare -f install)"'; install uninstall && test -z "$(find root -type f)"'
fi
done_testing
