# steno: servers that answer anything. SPDX-License-Identifier: MIT
#
# hub.sh [SECONDS [SEED]]: the short form tries thirty rounds, the long one goes on; what they are stands in hub.py.
STENO=${STENO:-build/steno}
. "$(dirname "$0")/../cli/lib.sh"
command -v python3 >/dev/null || { echo "skipped: there is no python3"; exit 77; }
HF_ENDPOINT=http://127.0.0.1:9 "$STENO" models pull --retries 0 a/b >"$T/out" 2>&1 </dev/null
! grep -qE 'STENO_HUB=OFF|libcurl is not installed' "$T/out" || { echo "skipped: $(cat "$T/out")"; exit 77; }
STENO=$STENO python3 -B "$SRC/tests/attack/hub.py" "${1:-0}" "${2:-1}"
