#!/bin/bash
# A tarball must build, pass its tests, install and uninstall: tests/distcheck.sh NAME (make distcheck).
set -eu
name=$1
rm -rf build/distcheck
mkdir -p build/distcheck/root
tar -xzf "$name.tar.gz" -C build/distcheck
cd "build/distcheck/$name"
./configure --prefix=/usr >/dev/null
make -s -j "$(nproc)"
make -s check
make -s install DESTDIR="$PWD/../root"
test -x ../root/usr/bin/gcg-mc
../root/usr/bin/gcg-mc --version >/dev/null
make -s uninstall DESTDIR="$PWD/../root"
left=$(find ../root -type f)
if [ -n "$left" ]; then
    echo "left after uninstall: $left" >&2
    exit 1
fi
cd ../../..
rm -rf build/distcheck
echo "$name.tar.gz is ready"
