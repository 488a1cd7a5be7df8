# steno: a server under faults goes on, and nothing is left behind. SPDX-License-Identifier: MIT
from test_load import load

load("--options=--greedy", "--part", "many,unload,kill,disk,model,drip,soak")
