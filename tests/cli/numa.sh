# steno: a process on one NUMA node. SPDX-License-Identifier: MIT
. "$(dirname "$0")/lib.sh"
nodes=/sys/devices/system/node
# numbers LIST: those of a list such as 0-3,8
numbers() { echo "$1" | tr ',' '\n' | while IFS=- read -r first last; do [ -z "$first" ] || seq "$first" "${last:-$first}"; done; }
among() { numbers "$2" | grep -qx "$1"; } # among NUMBER LIST
may_use() { sed -n "s/^$1_allowed_list:[[:space:]]*//p" /proc/self/status; }
# A node that this process may use: with one of its processors, and memory.
node=
for n in $(numbers "$(cat $nodes/has_cpu 2>/dev/null)"); do
    [ ! -r $nodes/has_memory ] || among "$n" "$(cat $nodes/has_memory)" || continue
    among "$n" "$(may_use Mems)" || continue
    for cpu in $(numbers "$(may_use Cpus)"); do
        among "$cpu" "$(cat "$nodes/node$n/cpulist")" && node=$n && break 2
    done
done
expect 2 "a node that is not there is refused" --numa 999 -m "$MODEL" "$DIGITS"
err_has "--numa: "
err_lines 1
out_empty
[ -n "$node" ] || { echo "(not tried: this system has no NUMA node for this process)"; finish; }
err_has "--numa: there is no node 999; the nodes of this machine are $(cat $nodes/online)"
expect 2 "llama.cpp's words are refused" --numa isolate -m "$MODEL" "$DIGITS"
err_has "--numa: \"isolate\" is not the number of a node; the nodes of this machine are $(cat $nodes/online)"
echo "{\"path\": \"$DIGITS\"}" >m.jsonl
for verb in "vad $DIGITS" "batch -i m.jsonl -o out.jsonl" "serve" "stream $DIGITS" "info" "punctuate" "detect $DIGITS" "bench" \
    "bench --shape tiny"; do
    set -- $verb
    model=(-m "$MODEL")
    [ "$verb" != "bench --shape tiny" ] || model=()
    [ "$1" != serve ] || "$STENO" serve --help >/dev/null 2>&1 || continue # not in this build
    expect 2 "$1 takes --numa" "$@" --numa 999 "${model[@]}"
    err_has "--numa: there is no node 999"
done
expect 0 "without a node" -q -l zh -m "$MODEL" "$DIGITS"
cp "$T/out" plain
expect 0 "the text does not change on a node" -q -l zh -m "$MODEL" --numa "$node" "$DIGITS"
same plain "$T/out"
err_lines 0

# What the system has of a process that waits for sound: its processors and, where the kernel lists them, its policies of memory.
mkfifo sound
"$STENO" stream -l zh -m "$MODEL" --numa "$node" -t 2 sound >out 2>err &
pid=$!
exec 3<>sound 4>sound # neither waits for a reader
head -c 60000 "$DIGITS" >&4 # less than a pipe holds
begun() { [ "$(ls /proc/$pid/task | wc -l)" -ge 2 ] && ls -l /proc/$pid/fd | grep -q "/sound$"; } 2>/dev/null
until begun || ! kill -0 $pid 2>/dev/null; do sleep 0.1; done
exec 3>&- # from here on a stream that ended is noticed
sleep 0.5
list=$(cat $nodes/node"$node"/cpulist)
inside() { # are the processors of $1 among those of $2?
    python3 - "$1" "$2" <<'P'
import sys
def cpus(text): return {c for p in text.split(",") for c in range(int(p.split("-")[0]), int(p.split("-")[-1]) + 1)}
sys.exit(not cpus(sys.argv[1]) <= cpus(sys.argv[2]))
P
}
kill -0 $pid || bad "the stream waits for sound" "$(cat err)"
if command -v python3 >/dev/null; then # on a machine with one node unit.tool_numa shows that they are chosen
    n=0
    for t in /proc/$pid/task/*; do
        cpus=$(sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' "$t/status")
        inside "$cpus" "$list" || bad "a thread is on the node" "$cpus"
        n=$((n + 1))
    done
    [ $n -ge 2 ] || bad "the process has threads" "$n"
fi
if [ -r /proc/$pid/numa_maps ] && ! grep -q "memory policies are not allowed" err; then
    n=$(grep -c "bind:$node.*anon=" /proc/$pid/numa_maps)
    [ "$n" -ge 2 ] || bad "memory is bound to the node" "$(head -3 /proc/$pid/numa_maps)"
fi
tail -c +60001 "$DIGITS" >&4
exec 4>&-
wait $pid || bad "the stream ends" "$(cat err)"
finish
