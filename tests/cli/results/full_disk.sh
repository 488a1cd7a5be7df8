# steno: on a full disk results come before journals, and one format before none. SPDX-License-Identifier: MIT
. "$(dirname "$0")/../lib.sh"

mkdir disk
if [ -z "${STENO_HAS_DISK:-}" ]; then
    rmdir disk
    unshare -rm true 2>/dev/null || { echo "skipped: no file system can be mounted here"; exit 77; }
    STENO_HAS_DISK=1 unshare -rm bash "$SRC/tests/cli/results/full_disk.sh"
    exit
fi
mount -t tmpfs -o size=64k none disk 2>/dev/null || { echo "skipped: no file system can be mounted here"; exit 77; }

# leave PAGES: fills the disk up to PAGES free ones
leave() {
    rm -rf disk/* && mkdir disk/o
    local i=0
    while [ "$(stat -f -c %a disk)" -gt "$1" ]; do echo x >disk/f$((i++)); done
}
run() {
    local code=$1 claim=$2
    shift 2
    expect "$code" "$claim" -m "$MODEL" -l zh "$@" -f json,txt -o disk/o
}
cp "$SRC/tests/data/demo.wav" a.wav
cp a.wav b.wav
leave 2
run 0 "two pages hold two results" a.wav
[ -s disk/o/a.json ] && [ -s disk/o/a.txt ] || bad "both results are written" "$(ls -A disk/o)"
is "the message about the journal is printed once" "$(grep -c "Results are still written" "$T/err")" 1
leave 1
run 6 "one page does not hold two results" a.wav
is "the second format is written" "$(ls disk/o)" a.txt
err_has "disk/o/a.json: cannot write: No space left on device"
leave 4
run 0 "four pages hold four results without a journal" a.wav b.wav
is "all four results are written" "$(ls disk/o | tr '\n' ' ')" "a.json a.txt b.json b.txt "
is "the message about the journal of two inputs is printed once" "$(grep -c "Results are still written" "$T/err")" 1
umount disk
finish
