#!/bin/sh
# steno: a manifest in 64 parts under GNU parallel, four at a time with four threads each. SPDX-License-Identifier: MIT
#
#   parallel.sh MODEL MANIFEST OUT
#
# The same command continues after any failure: --resume-failed starts the parts that are missing in the log or have failed. Give -j and -t
# both, because the default of each is all cores. --sshlogin spreads the parts over machines that share the files.
set -eu
mkdir -p "$3"
seq 0 63 | parallel -j 4 --halt soon,fail=20% --joblog "$3/joblog" --resume-failed \
    steno batch -m "$1" -i "$2" -o "$3/{}.jsonl" --shard {}/64 --resume -t 4 -q
exec steno batch --merge --ordered -i "$2" "$3"/*.jsonl
