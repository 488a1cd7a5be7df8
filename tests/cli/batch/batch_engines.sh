# steno: a batch under GNU parallel and Slurm, and what doc/scale.md names exists. SPDX-License-Identifier: MIT
. "$(dirname "$0")/../lib.sh"
EXAMPLES=$SRC/doc/examples/batch
mkdir bin
ln -s "$STENO" bin/steno
PATH=$PWD/bin:$PATH
head -c 30044 "$DIGITS" >a.wav
for ((i = 0; i < 24; i++)); do echo "{\"path\": \"a.wav\", \"id\": \"$i\"}"; done >m.jsonl
expect 0 "one run of the batch writes its journal" batch -q -t 1 -m "$MODEL" -i m.jsonl -o one.jsonl
"$STENO" batch --merge --ordered -i m.jsonl one.jsonl >one

# Documents.
"$STENO" batch --help-all | grep -oE -- '--[a-z][a-z-]*' | sort -u >options
grep -v 'parallel.*--halt\|--requeue\|aws batch\|ray start' "$SRC/doc/scale.md" | grep -oE -- '(^|[^a-z-])--[a-z][a-z-]*' |
    grep -oE -- '--.*' | sort -u >named
[ "$(wc -l <named)" -ge 12 ] || bad "doc/scale.md names at least twelve options" "$(cat named)"
none "each option that doc/scale.md names exists" "$(comm -13 options named)"
grep -hE 'steno batch|--shard' "$EXAMPLES"/* | grep -oE -- ' --[a-z][a-z-]*' | tr -d ' ' | grep -v '^--export$' | sort -u >named
none "each option that the examples name exists" "$(comm -13 options named)"
if command -v python3 >/dev/null; then
    python3 "$SRC/script/scale" --check >"$T/err" || bad "the tables of doc/scale.md are those of script/scale" "they are not"
    scale() { python3 "$SRC/script/scale" "$@" >"$T/out" 2>"$T/err"; }
    scale hours=100 workers=2 kills=0 || bad "script/scale computes a case with its own values" "it is not"
    out_has "core_hours"
    for wrong in hour=1 hours hours=x hours=0 workers=0.5 setting=none hours=nan; do
        ! scale $wrong || bad "script/scale refuses $wrong" "it does not"
        err_has "script/scale: $wrong: "
        err_lines 1
    done
fi
if command -v systemd-analyze >/dev/null; then
    mkdir units
    sed "s,/usr/local/bin/steno,$STENO," "$EXAMPLES/steno-batch@.service" >units/steno-batch@.service
    systemd-analyze --man=no verify units/steno-batch@0.service 2>"$T/err" || bad "the unit is valid" "$(cat "$T/err")"
    ! grep -q "steno-batch" "$T/err" || bad "the unit has no warnings" "$(cat "$T/err")"
fi

# Kubernetes and AWS Batch: the files can be read, their numbers agree, and two parts of their commands give the results of one run.
if command -v python3 >/dev/null; then
    cat >jobs.py <<'P'
import json, shlex, sys
folder, model = sys.argv[1:]
jobs = {}
with open(folder + "/aws-batch.json") as f:
    job = json.load(f)
c = job["containerProperties"]
assert {r["type"] for r in c["resourceRequirements"]} == {"VCPU", "MEMORY"} and job["retryStrategy"]["attempts"] <= 10
assert {m["sourceVolume"] for m in c["mountPoints"]} == {v["name"] for v in c["volumes"]}
assert all(set(e) <= {"onExitCode", "onReason", "onStatusReason", "action"} for e in job["retryStrategy"]["evaluateOnExit"])
jobs["aws"] = c["command"], 64, c["mountPoints"][0]["containerPath"], [r["value"] for r in c["resourceRequirements"]][0]
try:
    import yaml
except ImportError:
    print("(not tried: kubernetes.yaml; no package yaml)", file=sys.stderr)
else:
    with open(folder + "/kubernetes.yaml") as f:
        (job,) = yaml.safe_load_all(f)
    s, pod = job["spec"], job["spec"]["template"]["spec"]
    (c,) = pod["containers"]
    assert (job["apiVersion"], job["kind"], s["completionMode"], pod["restartPolicy"]) == ("batch/v1", "Job", "Indexed", "Never")
    assert s["parallelism"] <= s["completions"] and "backoffLimitPerIndex" in s # FailIndex needs it
    assert all(r["action"] in ("Ignore", "FailIndex", "FailJob") for r in s["podFailurePolicy"]["rules"])
    assert {m["name"] for m in c["volumeMounts"]} == {v["name"] for v in pod["volumes"]} and all(isinstance(a, str) for a in c["args"])
    args = [a.replace("$(JOB_COMPLETION_INDEX)", "$JOB_COMPLETION_INDEX") for a in c["args"]]
    line = "exec steno " + " ".join(a if "$" in a else shlex.quote(a) for a in args)
    jobs["kubernetes"] = ["sh", "-c", line], s["completions"], c["volumeMounts"][0]["mountPath"], c["resources"]["limits"]["cpu"]
for name, (command, n, at, cpus) in jobs.items():
    line = command[-1]
    words = shlex.split(line)
    assert command[:2] == ["sh", "-c"] and words[words.index("--shard") + 1] == f"auto/{n}", line
    assert words[words.index("-t") + 1] == cpus, line
    line = line.replace(f"auto/{n}", "auto/2").replace(f"{at}/all.jsonl", "m.jsonl").replace(f"{at}/base.bin", shlex.quote(model))
    with open(name + ".sh", "w") as f:
        f.write(line.replace(f"-t {cpus}", "-t 1").replace(at, name) + "\n")
P
    python3 jobs.py "$EXAMPLES" "$MODEL" || bad "the jobs of Kubernetes and AWS Batch are valid" "they are not"
    for job in kubernetes aws; do
        [ -e $job.sh ] || continue
        mkdir -p $job/out
        for i in 0 1; do
            JOB_COMPLETION_INDEX=$i AWS_BATCH_JOB_ARRAY_INDEX=$i sh $job.sh 2>"$T/err"
            is "part $i runs as on $job" $? 0
        done
        "$STENO" batch --merge --ordered -i m.jsonl $job/out/0.jsonl $job/out/1.jsonl >"$T/out"
        same "$T/out" one
    done
fi

# GNU parallel: the example with fewer parts, one of which fails at first.
if parallel --version 2>/dev/null | grep -q '^GNU parallel'; then
    sed 's/seq 0 63/seq 0 3/; s,/64,/4,; s/-t 4/-t 1/; s/fail=20%/fail=4/' "$EXAMPLES/parallel.sh" >parallel.sh
    mkdir out
    echo "not a journal" >out/2.jsonl
    sh parallel.sh "$MODEL" m.jsonl out >"$T/out" 2>"$T/err"
    is "GNU parallel reports a part that fails" $? 1
    is "the parts that do not fail are complete" "$(grep -c '"type": "summary"' out/[013].jsonl | grep -c ':1$')" 3
    rm out/2.jsonl
    sh parallel.sh "$MODEL" m.jsonl out >"$T/out" 2>"$T/err"
    is "the same command resumes" $? 0
    is "only the part that failed runs again" "$(awk 'NR > 1 { n[$1]++ } END { print n[1], n[2], n[3], n[4] }' out/joblog)" "1 1 2 1"
    same "$T/out" one
else
    echo "(not tried: GNU parallel is not installed)"
fi

# Slurm on this machine, with its daemons as this user.
command -v slurmctld >/dev/null && command -v slurmd >/dev/null && in_full || { echo "(not tried: Slurm)"; finish; }
mkdir slurm slurm/state slurm/spool jobs
cat >slurm/slurm.conf <<S
ClusterName=loop
SlurmctldHost=localhost
SlurmUser=$(id -un)
SlurmdUser=$(id -un)
AuthType=auth/none
CredType=cred/none
SlurmctldPort=$((20000 + $$ % 20000))
SlurmdPort=$((40000 + $$ % 20000))
StateSaveLocation=$PWD/slurm/state
SlurmdSpoolDir=$PWD/slurm/spool
SlurmctldPidFile=$PWD/slurm/slurmctld.pid
SlurmdPidFile=$PWD/slurm/slurmd.pid
SlurmctldLogFile=$PWD/slurm/slurmctld.log
SlurmdLogFile=$PWD/slurm/slurmd.log
ProctrackType=proctrack/pgid
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SwitchType=switch/none
MpiDefault=none
ReturnToService=2
SchedulerParameters=sched_interval=1
KillWait=5
SlurmdParameters=config_overrides
NodeName=localhost CPUs=4 NodeAddr=127.0.0.1
PartitionName=all Nodes=localhost Default=YES MaxTime=INFINITE State=UP
S
export SLURM_CONF=$PWD/slurm/slurm.conf
slurmctld -c && sleep 1 && slurmd -N localhost || bad "Slurm starts" "$(tail -3 slurm/*.log)"
await() { for ((i = 0; i < 600; i++)); do eval "$1" && return; sleep 0.2; done; bad "the condition becomes true" "$1"; }
await '[ "$(sinfo -h -o %T)" = idle ]'
sed 's/=0-63%16/=0-3/; s,/64,/4,; s/--cpus-per-task=8/--cpus-per-task=1/' "$EXAMPLES/steno.sbatch" >job.sh
submit() { sbatch --export=ALL,MODEL="$MODEL",MANIFEST=m.jsonl,OUT=jobs -o 'jobs/%a.log' "$@" job.sh >/dev/null; }
submit --array=0,2
await '[ -z "$(squeue -h)" ]'
is "an array with holes has its parts" "$(echo jobs/*.jsonl)" "jobs/0.jsonl jobs/2.jsonl"
submit --array=1,3
await '[ -s jobs/3.jsonl ] && [ -s jobs/1.jsonl ] || [ -z "$(squeue -h)" ]'
scancel -n steno
await '[ -z "$(squeue -h)" ]'
submit
await '[ -z "$(squeue -h)" ]'
"$STENO" batch --merge --ordered -i m.jsonl jobs/*.jsonl >joined 2>"$T/err"
same joined one
daemons=$(cat slurm/slurmd.pid slurm/slurmctld.pid)
kill $daemons
for pid in $daemons; do await "! kill -0 $pid 2>/dev/null"; done
finish
