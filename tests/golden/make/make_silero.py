# steno tests: what Silero VAD's own graph gives under onnxruntime for other weights. SPDX-License-Identifier: MIT
#
# python3 tests/golden/make/make_silero.py silero_vad_16k_op15.onnx ggml-silero-v6.2.0.bin AUDIO_FOLDER tests/data/silero
# (onnx, onnxruntime, soundfile). random.f32: the weights and the sound of tests/api/vad/test_silero.c, NAME.f32: whisper.cpp's file and a
# recording; in each the probabilities with true context, then those between mirror images, as in whisper.cpp. A graph begins with 64
# samples of context and mirrors the end itself, so whisper.cpp's context differs.
import struct
import sys

import numpy as np
import onnx
import onnxruntime
import soundfile
from onnx import numpy_helper

FRAME, MARGIN, CELLS = 512, 64, 128
CONVS = [(129, 128), (128, 64), (64, 64), (64, 128)]
SAMPLES, SEED = 16000 * 4 + 333, 7


def uniform(offset, n):
    """SplitMix64 of the place of each weight in the file, as src/convert/random_file.c has it."""
    with np.errstate(over="ignore"):
        z = np.uint64(SEED) + (np.uint64(offset + 1) + np.arange(n, dtype=np.uint64) * np.uint64(256)) * np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        z ^= z >> np.uint64(31)
    return (z >> np.uint64(40)).astype(np.float32) * np.float32(2.0**-23) - np.float32(1)


def random_weights():
    tensors = []
    for i, (n_in, n_out) in enumerate(CONVS):
        tensors.append((f"encoder.{i}.reparam_conv.weight", 3, (n_out, n_in, 3), np.float16, 0.1))
        tensors.append((f"encoder.{i}.reparam_conv.bias", 1, (n_out,), np.float32, 0.1))
    for name in ("weight_ih", "weight_hh"):
        tensors.append((f"decoder.rnn.{name}", 2, (4 * CELLS, CELLS), np.float32, 0.1))
    for name in ("bias_ih", "bias_hh"):
        tensors.append((f"decoder.rnn.{name}", 1, (4 * CELLS,), np.float32, 0.1))
    tensors.append(("decoder.decoder.2.weight", 1, (CELLS,), np.float16, 0.2))
    tensors.append(("decoder.decoder.2.bias", 0, (), np.float32, 0.1))
    tensors.append(("stft.forward_basis_buffer", 3, (258, 1, 256), np.float16, 1))
    found, offset = {}, 18 + 4 * (6 + 3 * len(CONVS) + 4)
    for name, n_dims, shape, kind, spread in tensors:
        offset += 12 + 4 * n_dims + len("_model." + name)
        n = int(np.prod(shape))
        found[name] = (np.float32(spread) * uniform(offset, n)).astype(kind)
        offset += found[name].nbytes
    return found


def random_sound():
    x, pcm = 1, np.zeros(SAMPLES, np.float32)
    for i in range(SAMPLES):
        x = (x * 1664525 + 1013904223) % 2**32
        pcm[i] = (i // 8000 % 2) * (np.float32(x >> 8) / np.float32(1 << 24) - np.float32(0.5))
    return pcm


def ggml_weights(path):
    data, at, found = open(path, "rb").read(), 18 + 4 * (6 + 3 * len(CONVS) + 4), {}
    while at < len(data):
        n_dims, n_name, is_half = struct.unpack_from("<3i", data, at)
        n = int(np.prod(struct.unpack_from(f"<{n_dims}i", data, at + 12)))
        at += 12 + 4 * n_dims
        name = data[at : at + n_name].decode()
        found[name.removeprefix("_model.")] = np.frombuffer(data, np.float16 if is_half else np.float32, n, at + n_name)
        at += n_name + n * (2 if is_half else 4)
    return found


def graph_of(path, weights):
    model, n = onnx.load(path), 0
    for t in model.graph.initializer:
        w = weights.get(t.name.removeprefix("model."))
        if w is not None:
            t.CopyFrom(numpy_helper.from_array(w.astype(np.float32).reshape(tuple(t.dims)), t.name))
            n += 1
    assert n == len(weights) == 15
    return onnxruntime.InferenceSession(model.SerializeToString())


def hear(graph, pcm, is_mirrored):
    pcm = np.pad(pcm, (0, -len(pcm) % FRAME))
    state, before, said = np.zeros((2, 1, CELLS), np.float32), np.zeros(MARGIN, np.float32), []
    for at in range(0, len(pcm), FRAME):
        frame = pcm[at : at + FRAME]
        context = frame[MARGIN:0:-1] if is_mirrored else before
        x = np.concatenate([context, frame])[None]
        p, state = graph.run(None, {"input": x, "state": state, "sr": np.array(16000, np.int64)})
        before = frame[-MARGIN:]
        said.append(float(p.reshape(-1)[0]))
    return said


def main():
    form, ggml, audio, to = sys.argv[1:]
    jobs = [("random", random_weights(), random_sound())]
    for name in ("jfk", "sample", "pauses", "noise10s"):
        jobs.append((name, ggml_weights(ggml), soundfile.read(f"{audio}/{name}.wav", dtype="float32")[0]))
    for name, weights, pcm in jobs:
        graph = graph_of(form, weights)
        np.array([hear(graph, pcm, False), hear(graph, pcm, True)], "<f4").tofile(f"{to}/{name}.f32")


main()
