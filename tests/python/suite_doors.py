# steno tests: the packages faster_whisper and whisper are steno's, and their models are files. SPDX-License-Identifier: MIT
#
# A plugin of pytest: `-p suite_doors`. STENO_SUITE_MODELS is a list "NAME=PATH;..."; the name * stands for all others.
import importlib
import os
import sys
import types

import pytest

import steno._names
import steno.faster_whisper.utils
import steno.whisper.tokenizer

for theirs, ours, parts in (("faster_whisper", "steno.faster_whisper", ("audio", "tokenizer", "transcribe", "utils", "vad")),
                            ("whisper", "steno.whisper", ("audio", "normalizers", "normalizers.english", "timing", "tokenizer", "utils"))):
    sys.modules[theirs] = importlib.import_module(ours)
    for part in parts:
        sys.modules[f"{theirs}.{part}"] = importlib.import_module(f"{ours}.{part}")

try:
    import torch # noqa: F401
except ImportError: # the suite asks it for a device, and for random values
    stand_in = types.ModuleType("torch")
    stand_in.randn = lambda *shape: importlib.import_module("numpy").random.standard_normal(shape)
    stand_in.cuda = types.SimpleNamespace(is_available=lambda: False)
    sys.modules["torch"] = stand_in

files = dict(item.split("=", 1) for item in os.environ.get("STENO_SUITE_MODELS", "").split(";") if item)
find = steno._names.find_model


def find_model(name, **options):
    if os.path.exists(name):
        return name
    path = files.get(name) or (files.get("*") if not name.endswith(".en") and name != "silero" else None)
    if not path:
        pytest.skip(f"no file for the model {name}")
    return path


for module in (steno.faster_whisper.utils, steno.whisper, steno.whisper.tokenizer, sys.modules["steno._model"]):
    module.find_model = find_model
