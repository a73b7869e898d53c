#!/bin/bash
# The build itself: what is rebuilt and when, configure, install, tarball, packages; and that tests/run.sh sees failures.
# Works on a copy of the tree and compiles single objects only.
# shellcheck disable=SC1091,SC2016 # lib.sh stands beside; some quoted text is for bash -c
. "$(dirname "$0")/lib.sh"
unset BUILD PROGRAM TESTS SANITIZE COVERAGE DEVELOPER CFLAGS CPPFLAGS LDFLAGS LIBS ISAL OPENMP_FLAGS DESTDIR

mkdir "$T/copy" && cd "$T/copy" || exit 1
(cd "$ROOT" && tar -c --exclude=./build --exclude=./.git --exclude=./demo --exclude=./bench-out --exclude=./config.mak.autogen \
    --exclude=./gcg-mc --exclude='./*.tar.gz' .) | tar -x || exit 1

# rebuilds OBJECT [MAKE ARGUMENT...]: 0 when make compiled it anew.
rebuilds() {
    local object=$1 before after
    before=$(stat -c %y "$object" 2>/dev/null)
    make -s "$object" "${@:2}" || exit 125
    after=$(stat -c %y "$object")
    [ "$before" != "$after" ]
}
rng=build/src/base/rng.o
ok "an object is built without configure" rebuilds $rng
not_ok_if "and left alone when nothing changed" rebuilds $rng
ok "other CFLAGS rebuild it" rebuilds $rng CFLAGS=-O0
ok "and so does going back" rebuilds $rng
ok "building without OpenMP rebuilds it" rebuilds $rng OPENMP_FLAGS=
not_ok_if "the same without OpenMP does not" rebuilds $rng OPENMP_FLAGS=
ok "DEVELOPER=1 rebuilds it" rebuilds $rng OPENMP_FLAGS= DEVELOPER=1
make -s $rng
sleep 0.1 # file times are as coarse as the system's clock tick
touch src/base/rng.h
ok "a changed header rebuilds it" rebuilds $rng
before=$(stat -c %y $rng)
ok "a sanitizer builds into its own folder" rebuilds build/undefined/src/base/rng.o SANITIZE=undefined
ok "and leaves the plain build alone" test "$before" = "$(stat -c %y $rng)"

# install, with the program under test
install_as() { make -s -o all "$@" PROGRAM="$GCG" DESTDIR="$T/root" prefix=/opt/gcg; }
ok "install" install_as install
ok "the installed program runs" "$T/root/opt/gcg/bin/gcg-mc" --version
ok "every manual page is installed" diff <(cd man && find . -type f -printf '%f\n' | sort) <(cd "$T/root/opt/gcg/share/man" && find . -type f -printf '%f\n' | sort)
ok "uninstall" install_as uninstall
ok "uninstall leaves no file" test -z "$(find "$T/root" -type f)"

# configure
if [ -e configure ] || command -v autoconf >/dev/null; then
    [ -e configure ] || autoconf
    ok "configure" ./configure --prefix=/opt/elsewhere
    ok "make takes the prefix from it" bash -c "make -n -o all install | grep -q /opt/elsewhere/bin"
    ok "make builds with what it found" make -s $rng
    ok "configure --without-isal builds without libisal" bash -c "./configure --without-isal && make -n build/src/io/inflate.o | grep -v GCG_ISAL && ! make -n build/src/io/inflate.o | grep GCG_ISAL"
    not_ok_if "configure --with-isal fails when it is missing" bash -c "ac_cv_header_isa_l_igzip_lib_h=no ./configure --with-isal 2>'$T/said'"
    ok "and says what to install" grep 'install libisal-dev' "$T/said"
    not_ok_if "configure fails when a library is missing" bash -c "ac_cv_header_zip_h=no ./configure 2>'$T/said'"
    ok "it names the library and the package" grep 'zip.h is missing: install libzip-dev' "$T/said"
    ok "a failed configure leaves nothing that make would trust" test ! -e config.mak.autogen
    not_ok_if "configure fails when the compiler does not work" ./configure CC=false
    ok "and leaves nothing either" test ! -e config.mak.autogen

    ok "dist" make -s dist
    tarball=$(echo gcg-mc-*.tar.gz)
    cp "$tarball" "$T/first.tar.gz"
    make -s dist >"$T/said"
    ok "dist gives the same bytes again" cmp "$tarball" "$T/first.tar.gz"
    mkdir "$T/dist" && tar -xzf "$tarball" -C "$T/dist" --strip-components=1
    rm -rf build autom4te.cache config.log config.status "$tarball"
    ok "the tarball has the whole tree, configure, and nothing that a build makes" diff -r . "$T/dist"
else
    skip "configure and dist" "autoconf is not installed"
fi

# packages: apt, dpkg and sudo of our own
mkdir "$T/bin"
cat >"$T/bin/dpkg-query" <<'EOF'
#!/bin/sh
for last in "$@"; do :; done
[ "$last" = absent ] || printf 'ii '
EOF
printf '#!/bin/sh\necho "apt-get $*" >>"%s/apt"\n' "$T" >"$T/bin/apt-get"
printf '#!/bin/sh\necho sudo >>"%s/apt"\nexec "$@"\n' "$T" >"$T/bin/sudo"
printf '#!/bin/sh\necho "${USER_ID:-0}"\n' >"$T/bin/id"
chmod +x "$T"/bin/*
packages() { : >"$T/apt" && PATH=$T/bin:$PATH tests/install-packages.sh "$@" && cat "$T/apt"; }
ok "packages that are there: apt is not asked" bash -c "$(declare -f packages); packages one two && [ ! -s '$T/apt' ]"
ok "a missing package is installed" packages one absent
ok "and no other" grep -q -- '-recommends absent$' "$T/apt"
export USER_ID=1000
ok "by sudo when not root" packages absent
ok "sudo was called" grep -q '^sudo' "$T/apt"
unset USER_ID

# tests/run.sh: $T/h/NAME holds a test
mkdir "$T/h"
run_sees() { # WANTED LAST LINE, then lines of the script
    printf '%s\n' "${@:2}" >"$T/h/t.sh"
    local status=0 last
    TEST_TIMEOUT=2 tests/run.sh "$T/h/t.sh" >"$T/h/out" || status=$?
    last=$(tail -n 1 "$T/h/out")
    cat "$T/h/out"
    [ "$last" = "$1" ] && case $1 in *" 0 failed"*) [ $status = 0 ] ;; *) [ $status = 1 ] ;; esac
}
ok "run.sh counts passed and skipped tests" run_sees "1 passed, 0 failed, 1 skipped" 'echo ok 1 - a' 'echo "ok 2 - b # SKIP c"' 'echo 1..2'
ok "a failed test is a failure" run_sees "1 passed, 1 failed" 'echo ok 1 - a' 'echo not ok 2 - b' 'echo 1..2' 'exit 1'
ok "also when the script ends with 0" run_sees "0 passed, 1 failed" 'echo not ok 1 - b' 'echo 1..1'
ok "a script that ends early is a failure" run_sees "1 passed, 1 failed" 'echo ok 1 - a' 'exit 0'
ok "a script that ran fewer tests than planned is a failure" run_sees "1 passed, 1 failed" 'echo ok 1 - a' 'echo 1..2'
ok "a script that crashes is a failure" run_sees "1 passed, 1 failed" 'echo ok 1 - a' 'echo 1..1' 'kill -SEGV $$'
ok "a script that runs nothing is a failure" run_sees "0 passed, 1 failed" 'echo 1..0'
ok "a script that hangs is a failure" run_sees "1 passed, 1 failed" 'echo ok 1 - a' 'sleep 60'
printf '#!/bin/sh\nkill -SEGV $$\n' >"$T/h/check_crash"
chmod +x "$T/h/check_crash"
exits 1 "a test program that crashes is a failure" tests/run.sh "$T/h/check_crash"
done_testing
