# steno: common functions of the tests of batches with files. SPDX-License-Identifier: MIT

b() { # b CODE CLAIM ARGUMENT...: a batch of the manifest m.jsonl
    local want=$1 claim=$2
    shift 2
    expect "$want" "$claim" batch -q -t 1 -m "$MODEL" -l zh -i m.jsonl "$@"
}
refused() { # refused CLAIM WORDS ARGUMENT...: a batch that ends before it has done anything
    local claim=$1 words=$2
    shift 2
    b 2 "$claim" -o refused.jsonl "$@"
    err_has "$words"
    [ ! -e refused.jsonl ] || bad "$claim: nothing was done" "$(head -c 200 refused.jsonl)"
}
same_tree() { # same_tree CLAIM DIR OTHER: the same names with the same bytes
    diff -r "$2" "$3" >tree.diff || bad "$1" "$(head -5 tree.diff)"
}
