"""usage: make_vad.py MODEL_FOLDER AUDIO_FOLDER OUT.json
FunASR's FSMN-VAD for streams (openings and closings, with the number of the chunk that reports them), for files judged in small chunks,
and its DynamicStreamingVAD: for every file and size of a chunk. FunASR 1.4.16, PyTorch on one thread."""
import glob, json, os, sys, wave
import numpy as np, torch

torch.set_num_threads(1)
from funasr import AutoModel
from funasr.models.fsmn_vad_streaming.dynamic_vad import DynamicStreamingVAD
from funasr.utils.vad_utils import merge_vad


def load(f):
    w = wave.open(f)
    return np.frombuffer(w.readframes(w.getnframes()), "<i2").astype(np.float32) / 32768


def stream(m, x, ms, **kw):
    cache, out, n = {}, [], ms * 16
    m.model.vad_opts.max_end_silence_time = 800
    for i in range(0, len(x), n):
        r = m.generate(input=x[i:i + n], cache=cache, is_final=i + n >= len(x), chunk_size=ms, **kw)
        v = r[0]["value"] if r else []
        out += [[i // n] + s for s in v]
    return out


m = AutoModel(model=sys.argv[1], disable_update=True, disable_pbar=True, device="cpu", log_level="ERROR", ncpu=1)
gold = {}
for f in sorted(glob.glob(os.path.join(sys.argv[2], "*.wav"))):
    x, g = load(f), {}
    short = len(x) < 16000 * 20
    for ms in [200, 600, 1500, 20000] + ([35, 60, 100] if short else []):
        g["stream_%d" % ms] = stream(m, x, ms)
        g["stream_%d_fixed" % ms] = stream(m, x, ms, max_end_silence_time=500)
    for ms in (100, 1000, 7000, 15000):
        m.model.vad_opts.max_end_silence_time = 800
        g["file_%d" % ms] = m.generate(input=f, cache={}, chunk_size=ms)[0]["value"]
    g["live_60"] = DynamicStreamingVAD(m).process(torch.from_numpy(x)) if short else []
    g["live_200"] = DynamicStreamingVAD(m, chunk_size_ms=200).process(torch.from_numpy(x))
    for which, kw in (("", {}), ("_fixed", {"max_end_silence_time": 500})):
        m.model.vad_opts.max_end_silence_time = 800
        v = m.generate(input=f, cache={}, **kw)[0]["value"]
        for s in (5, 15, 30):
            g["merged_%d%s" % (s, which)] = merge_vad(v, s * 1000)
    if not short:
        del g["live_60"]
    gold[os.path.basename(f)] = g
    print(f, {k: len(v) for k, v in g.items()}, flush=True)
json.dump(gold, open(sys.argv[3], "w"), separators=(",", ":"))
