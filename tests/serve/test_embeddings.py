# steno: embeddings over HTTP. SPDX-License-Identifier: MIT
import base64
import json
import os
import struct
import subprocess
from serving import SHARED, SOURCE, STENO, Server, ask, run, skip

LM = os.path.join(SOURCE, "tests/data/lm/qwen3-q4_0.gguf")
BERT = os.path.join(SHARED or "", "material/llm/models/bert/hf")
if not os.path.isdir(BERT):
    skip("STENO_SHARED does not name a model for vectors")


def test_vectors_are_those_of_the_program():
    with Server(model=("-m", LM, "-m", BERT)) as s:
        status, body = ask(s, "/v1/embeddings", model="hf", input=["one two", "three"])
        answer = json.loads(body)
        own = subprocess.run([STENO, "embed", "-q", "-m", BERT, "one two", "three"], stdout=subprocess.PIPE, check=True, text=True).stdout
        rows = [d["embedding"] for d in answer["data"]]
        assert status == 200 and len(rows) == 2 and answer["usage"]["prompt_tokens"] > 0, body
        lines = [json.loads(line) for line in own.splitlines()]
        for row, line in zip(rows, lines):
            expected = line["embedding"] if isinstance(line, dict) else line
            assert all(abs(a - b) < 1e-6 for a, b in zip(row, expected)) and len(row) == len(expected)
        packed = json.loads(ask(s, "/v1/embeddings", model="hf", input="one two", encoding_format="base64")[1])["data"][0]["embedding"]
        values = struct.unpack(f"<{len(rows[0])}f", base64.b64decode(packed))
        assert all(abs(a - b) < 1e-6 for a, b in zip(values, rows[0]))
        for texts, code in ((["one", "two " * 5000], "context_length_exceeded"), ("one", None)):
            status, body = ask(s, "/v1/embeddings", model="hf", input=texts)
            error = json.loads(body).get("error", {})
            assert (status == 200) == (code is None) and error.get("code") == code, body
            assert code is None or error["param"] == "input", body


run(globals())
