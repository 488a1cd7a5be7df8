# shellcheck shell=bash
# steno: the start of tests of what was built for 64-bit ARM; use ". tests/install/arm.sh". SPDX-License-Identifier: MIT
#
# Sets `qemu`, and `tmp`, a folder that is removed at the end. The test runs in the folder of the sources.
: "${STENO:?the program to compare with}" "${STENO_SOURCE:?}"
cd "$STENO_SOURCE" || exit 1
skip() { echo "skipped: $1"; exit 77; }
qemu=$(command -v qemu-aarch64) || skip "no qemu-aarch64 (apt-get install qemu-user)"
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

built_for_arm() # PATTERN WHAT SCRIPT: sets `built` to the file in dist/ which SCRIPT builds
{
    built=$(find dist -name "$1" 2>/dev/null | head -n 1 || true)
    [ -n "$built" ] || skip "no $2 for ARM in dist/; $3 --machine aarch64 builds one"
}

check() # WHAT EXPECTED OUTPUT
{
    [ "$2" = "$3" ] || { printf '%s printed:\n%s\nexpected:\n%s\n' "$1" "$3" "$2"; exit 1; }
    echo "$1"
}
