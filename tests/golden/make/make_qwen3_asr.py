#!/usr/bin/env python3
# steno tests: results of Qwen3-ASR's reference for the small model in tests/data/qwen3_asr. SPDX-License-Identifier: MIT
"""make_qwen3_asr.py MODEL_DIR DEMO_WAV HF_CONFIG TABLES >golden.json

Runs transformers 5.24's Qwen3ASRForConditionalGeneration in f32 on pieces of a sound file. Weights are widened from bf16 one by one: a
model that is converted as a whole also rounds the angles and positions that it computes itself. TABLES has pure functions of qwen-asr 0.0.6
(parse, fix), which are passed on."""
import json
import re
import sys
import wave

import numpy as np
import torch
from safetensors.torch import load_file
from transformers import Qwen3ASRConfig, Qwen3ASRForConditionalGeneration
from transformers.models.qwen3_asr.feature_extraction_qwen3_asr import Qwen3ASRFeatureExtractor

# name, samples of the file, how often they are repeated, language, context
RUNS = [("demo", 59551, 1, None, ""), ("demo", 59551, 1, "English", ""), ("demo", 59551, 1, "Chinese", "zero, seven"),
        ("second", 16000, 1, None, ""), ("short", 2567, 1, None, ""), ("border", 32000, 1, None, ""), ("over", 32160, 1, None, ""),
        ("long", 59551, 5, None, "")]
NEW, EVERY = 24, 5  # most ids; every n-th row is kept


def hf_name(name):
    name = name.replace("thinker.", "").replace("audio_tower.proj1.", "multi_modal_projector.linear_1.")
    name = name.replace("audio_tower.proj2.", "multi_modal_projector.linear_2.")
    if name.startswith("lm_head"):
        return name
    return "model." + re.sub("^model[.]", "language_model.", name)


def prompt_ids(folder, rows, language, context):
    from transformers import AutoTokenizer
    t = AutoTokenizer.from_pretrained(folder)
    text = f"<|im_start|>system\n{context}<|im_end|>\n<|im_start|>user\n<|audio_start|>{'<|audio_pad|>' * rows}<|audio_end|><|im_end|>\n"
    text += "<|im_start|>assistant\n" + (f"language {language}<asr_text>" if language else "")
    return t(text)["input_ids"], t


def rows_of(frames):
    return frames // 100 * 13 + (frames % 100 + 7) // 8


def main():
    folder, sound, config, tables = sys.argv[1:5]
    torch.set_num_threads(1)
    model = Qwen3ASRForConditionalGeneration(Qwen3ASRConfig(**json.load(open(config)))).eval()
    weights = {hf_name(k): v.float() for k, v in load_file(folder + "/model.safetensors").items()}
    missing, extra = model.load_state_dict(weights, strict=False)
    assert not extra and not [k for k in missing if "lm_head" not in k], (missing, extra)
    with wave.open(sound) as w:
        pcm = np.frombuffer(w.readframes(w.getnframes()), np.int16).astype(np.float32) / 32768
    front, out = Qwen3ASRFeatureExtractor(), {"runs": []}
    for name, n, times, language, context in RUNS:
        x = np.tile(pcm[:n], times)
        x = np.pad(x, (0, max(0, 8000 - len(x))))
        f = front(x, sampling_rate=16000, padding=True, return_attention_mask=True, return_tensors="pt")
        features, mask = f["input_features"], f["attention_mask"]
        rows = rows_of(int(mask.sum()))
        ids, tokenizer = prompt_ids(folder, rows, language, context)
        with torch.no_grad():
            r = model.generate(input_ids=torch.tensor([ids]), input_features=features, input_features_mask=mask,
                               attention_mask=torch.ones(1, len(ids), dtype=torch.long), max_new_tokens=NEW, do_sample=False,
                               output_logits=True, return_dict_in_generate=True)
            encoder = model.model.get_audio_features(features, mask).pooler_output
        logits = torch.stack(r.logits, 1)[0]
        best = logits.sort(-1).values
        new = r.sequences[0, len(ids):].tolist()
        run = {"name": name, "samples": n, "times": times, "language": language, "context": context, "frames": int(mask.sum()),
               "rows": rows, "prompt": ids, "ids": new, "margin": float((best[:, -1] - best[:, -2]).min()),
               "text": tokenizer.decode(new, skip_special_tokens=True, clean_up_tokenization_spaces=False)}
        assert encoder.shape[0] == rows, (encoder.shape, rows)
        if not language:
            run["first_logprob"] = round(float(logits[0].log_softmax(-1).max()), 6)
            run["encoder"] = [round(float(v), 5) for v in encoder[::EVERY].flatten()]
        if name == "short":
            run["features"] = [round(float(v), 6) for v in features[0][:, :run["frames"]:EVERY].T.flatten()]
        out["runs"].append(run)
        print(name, run["frames"], rows, new[:8], run["margin"], file=sys.stderr)
    given = json.load(open(tables))
    out["parse"], out["fix"] = given["parse"], given["fix"]
    json.dump(out, sys.stdout, ensure_ascii=False, separators=(",", ":"))


main()
