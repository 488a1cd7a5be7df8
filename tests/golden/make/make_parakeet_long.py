# steno tests: golden of a clip of minutes, by transformers. SPDX-License-Identifier: MIT
"""make_parakeet_long.py COLLECTION OUT.json: the clip "long" of the Parakeet collection, repeated, through the folder hf/ctc in f32: ids of
all rows without repeats and blanks, the smallest margin of an id, and every 512th row of the encoder."""
import json
import sys
import wave
import numpy as np
import torch
from transformers import ParakeetFeatureExtractor, ParakeetForCTC

TIMES, STEP, BLANK = 12, 512, 48
torch.set_num_threads(1)
with wave.open(sys.argv[1] + "/audio/long.wav") as w:
    one = np.frombuffer(w.readframes(w.getnframes()), np.int16).astype(np.float32) / 32768
model = ParakeetForCTC.from_pretrained(sys.argv[1] + "/hf/ctc", dtype=torch.float32, attn_implementation="eager").eval()
features = ParakeetFeatureExtractor(feature_size=80)(np.tile(one, TIMES), sampling_rate=16000, return_tensors="pt")
with torch.no_grad():
    out = model.encoder(features["input_features"], attention_mask=features["attention_mask"])
    rows = out.last_hidden_state[0, :int(out.attention_mask.sum())]
    logits = model.ctc_head(rows[None])[0]
best = logits.topk(2, -1)
ids = best.indices[:, 0].tolist()
kept = [k for i, k in enumerate(ids) if k != BLANK and (not i or ids[i - 1] != k)]
margin = float((best.values[:, 0] - best.values[:, 1]).min())
with open(sys.argv[2], "w") as f:
    json.dump({"transformers": __import__("transformers").__version__, "times": TIMES, "step": STEP, "rows": len(ids), "margin": margin, "ids": kept,
               "most": float(rows.abs().max()), "encoder": [[float(f"{x:.7g}") for x in row] for row in rows[::STEP].tolist()]}, f)
    f.write("\n")
print(len(ids), len(kept), margin)
