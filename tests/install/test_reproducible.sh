#!/usr/bin/env bash
# steno: two builds of one commit are the same bytes. SPDX-License-Identifier: MIT
#
# test_reproducible.sh [sdist|deb|wheel|wheel-aarch64|packages|packages-aarch64]...: builds the commit twice, in folders of different names,
# with another time zone, umask and locale, and compares what is in dist/. Without arguments: the wheel with its sdist, and all packages,
# which takes an hour on two cores. STENO_REPRODUCIBLE is a folder that keeps the builds.
set -euo pipefail

: "${STENO_SOURCE:?}"
skip() { echo "skipped: $1"; exit 77; }
[ -d "$STENO_SOURCE/.git" ] || [ -f "$STENO_SOURCE/.git" ] || skip "no repository, and builds are of a commit"
command -v dpkg-source >/dev/null || skip "no dpkg-source (apt-get install dpkg-dev)"
[ $# -gt 0 ] || set -- wheel packages
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
kept=${STENO_REPRODUCIBLE:-$tmp}

build() # FOLDER PART...
{
    local folder=$1
    shift
    [ -d "$folder" ] || git clone -q "$source" "$folder"
    cd "$folder"
    for part; do
        case $part in
            sdist) script/wheel --sdist ;;
            wheel) script/wheel ;;
            wheel-aarch64) script/wheel --machine aarch64 ;;
            deb) script/package --deb ;;
            packages) script/package ;;
            packages-aarch64) script/package --machine aarch64 ;;
            *) echo "unknown part: $part" >&2; exit 2 ;;
        esac >"$folder.log" 2>&1 || { tail -n 15 "$folder.log"; exit 1; }
    done
}

mkdir -p "$kept/first" "$kept/other"
source=$STENO_SOURCE
(umask 022 && export TZ=UTC LC_ALL=C && build "$kept/first/steno" "$@")
source=$kept/first/steno # the same commit, whatever happened since
(umask 077 && export TZ=Asia/Tokyo LC_ALL=C.UTF-8 && build "$kept/other/a-longer-name" "$@")
cd "$kept/first/steno/dist"
n=0 others=0
for file in *; do
    [ "$file" != SHA256SUMS ] || continue
    n=$((n + 1))
    cmp "$file" "$kept/other/a-longer-name/dist/$file" && echo "$file is the same" || others=$((others + 1))
done
[ $n -gt 0 ] || { echo "nothing was built"; exit 1; }
[ "$(ls)" = "$(ls "$kept/other/a-longer-name/dist")" ] || { echo "the second build has other files"; exit 1; }
[ $others = 0 ] || { echo "$others of $n files differ"; exit 1; }
echo "$n files are the same bytes"
