# steno: a GGUF file with another chat template, for tests. SPDX-License-Identifier: MIT
import contextlib
import json
import os
import struct
import tempfile

from serving import SOURCE

LM = os.path.join(SOURCE, "tests/data/lm/qwen3-q4_0.gguf")
KEY, TEXT, ARRAY = b"tokenizer.chat_template", 8, 9
SIZES = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}


def number(data, at, n):
    return int.from_bytes(data[at:at + n], "little")


def text_end(data, at):
    return at + 8 + number(data, at, 8)


def value_end(data, kind, at):
    if kind == TEXT:
        return text_end(data, at)
    if kind != ARRAY:
        return at + SIZES[kind]
    inner, n, at = number(data, at, 4), number(data, at + 4, 8), at + 12
    for _ in range(n):
        at = value_end(data, inner, at)
    return at


def aligned(n):
    return (n + 31) // 32 * 32


def with_template(path, to, template):
    """Writes to `to` the file at path with this template instead of its own."""
    data = open(path, "rb").read()
    n_tensors, n_keys, at, keys = number(data, 8, 8), number(data, 16, 8), 24, []
    for _ in range(n_keys):
        begin, at = at, text_end(data, at)
        name, kind = data[begin + 8:at], number(data, at, 4)
        at = value_end(data, kind, at + 4)
        assert name != b"general.alignment"
        if name != KEY:
            keys.append(data[begin:at])
    begin = at
    for _ in range(n_tensors):
        at = text_end(data, at)
        at += 4 + 8 * number(data, at, 4) + 12
    own = template.encode()
    keys.append(struct.pack("<Q", len(KEY)) + KEY + struct.pack("<IQ", TEXT, len(own)) + own)
    head = data[:16] + struct.pack("<Q", len(keys)) + b"".join(keys) + data[begin:at]
    with open(to, "wb") as f:
        f.write(head + bytes(aligned(len(head)) - len(head)) + data[aligned(at):])


@contextlib.contextmanager
def model_with_tools(thinks=False):
    """The path of LM with a template that has tools, and a place for thoughts, in which each answer begins if it thinks."""
    with open(os.path.join(SOURCE, "tests/data/chat_templates.json")) as f:
        template = next(t["template"] for t in json.load(f) if t["name"] == "tools, after an optional system text")
    end = "{%- endif %}"
    place = "{{- '<think>\\n' }}" if thinks else "{%- if enable_thinking is defined and enable_thinking is false %}" \
        "{{- '<think>\\n\\n</think>\\n\\n' }}" + end
    template = template.rstrip().removesuffix(end) + place + end
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "tools.gguf")
        with_template(LM, path, template)
        yield path
