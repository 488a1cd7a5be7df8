# steno: one process, many files: memory stays where it was. SPDX-License-Identifier: MIT
#
# The peak of the resident set after a few files is compared with that after all but one. STENO_SOAK sets the number of files (60, under a
# sanitizer 20; 1000 takes minutes). The last file is standard input, which stays open until the second peak is read.
. "$(dirname "$0")/lib.sh"

n=${STENO_SOAK:-$(sanitized && echo 20 || echo 60)}
warm=10 slack=1024 # files before the first look; kB that it may grow afterwards
short=$SRC/tests/data/golden/tiny50ms.wav
mkdir in
for ((i = 1; i < n; i++)); do ln -s "$short" in/$i.wav; done
mkfifo lines sound
"$STENO" -q -m "$MODEL" -l en -f jsonl in/*.wav - <sound >lines 2>"$T/err" &
pid=$!
exec 7>sound
peak() { sed -n 's/^VmHWM:[ \t]*\([0-9]*\).*/\1/p' /proc/$pid/status; }
count=0 first=0 last=0
while IFS= read -r line <&6; do
    case $line in '{"type": "transcript", '*) ;; *) continue ;; esac
    count=$((count + 1))
    case $line in *'"status": "ok"'*) ;; *) bad "the status of file $count is ok" "$line" ;; esac
    [ $count -ne $warm ] || first=$(peak)
    [ $count -eq $((n - 1)) ] || continue
    last=$(peak)
    cat "$short" >&7
    exec 7>&-
done 6<lines
wait $pid
is "the run exits 0" $? 0
is "every file has its line" "$count" "$n"
echo "peak after $warm files: $first kB, after $((n - 1)): $last kB"
if sanitized; then
    echo "(not compared: a sanitizer keeps what is freed)"
else
    [ "$first" -gt 0 ] && [ "$last" -gt 0 ] && [ $((last - first)) -le $slack ] ||
        bad "the memory of the process does not grow" "$first kB, then $last kB"
fi
finish
