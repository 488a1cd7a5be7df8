# steno: short requests beside long ones, cancelled ones, uploads, idle connections and live sessions. SPDX-License-Identifier: MIT
from test_load import load

load("--options=--greedy", "--part", "first,beside,cancel,upload,idle,live")
