# steno: the kernels on a processor that is not this one. SPDX-License-Identifier: MIT
#
# kernels.sh CPU LEVEL   CPU is what the emulator calls it; LEVEL is the best that it has. LEVEL passes its checks there, and no
#                        instruction is met that CPU does not have.
set -euo pipefail
: "${CHECK_KERNELS:?the program}" "${STENO_EMULATOR:?and what runs it}"
cpu=$1 level=$2 shapes=--emulated
# The test kernels checks the levels of this processor without emulation.
if [ "${CHECK_KERNELS_AGAIN-0}" = 1 ] && [ "${STENO_LONG-0}" != 1 ]; then shapes=--again; fi
if ! command -v "${STENO_EMULATOR%% *}" >/dev/null; then
    echo "skipped: ${STENO_EMULATOR%% *} is not installed; script/bootstrap --test installs it"
    exit 77
fi
out=$($STENO_EMULATOR -cpu "$cpu" "$CHECK_KERNELS" "$shapes" "$level" 2>&1) || { echo "$out"; exit 1; }
out=$(grep -v '^qemu.*warning' <<<"$out")
echo "$out"
if ! grep -q "^$level .* ok$" <<<"$out"; then
    echo "level $level of $cpu was not checked"
    exit 1
fi
