# steno tests: a tiny Mistral with random weights, with and without a window, and what transformers makes of ids.
# SPDX-License-Identifier: MIT
#
# usage: make_mistral.py FOLDER (transformers 5.23, torch). Prints what tests/golden/test_mistral.c holds.
import sys

import torch
from transformers import MistralConfig, MistralForCausalLM

for window in (12, None):
    config = MistralConfig(vocab_size=64, hidden_size=16, intermediate_size=24, num_hidden_layers=2, num_attention_heads=2,
                           num_key_value_heads=1, head_dim=8, max_position_embeddings=128, sliding_window=window, rope_theta=5e4,
                           initializer_range=0.4, tie_word_embeddings=False, attn_implementation="eager")
    torch.manual_seed(5)
    model = MistralForCausalLM(config).eval()
    if window:
        model.save_pretrained(sys.argv[1])
    ids = [(i * 37 + 11) % 64 for i in range(60)]
    with torch.no_grad():
        print([round(float(x), 5) for x in model(torch.tensor([ids])).logits[0, -1][:6]])
        for _ in range(20):
            ids.append(int(model(torch.tensor([ids])).logits[0, -1].argmax()))
    print(ids[60:])
