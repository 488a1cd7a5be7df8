"""Texts of streaming Paraformer for whole recordings, as FunASR gives them (tests/data/online/texts.json).

usage: make_online.py FOLDER COLLECTION OUT: the model's folder (config.yaml of paraformer-online, model.pt of paraformer)
SPDX-License-Identifier: MIT"""
import glob, json, os, sys, wave
import numpy as np, torch
from funasr import AutoModel
from funasr.frontends import wav_frontend

SETTINGS = [("0,10,5", 0, 0), ("0,10,5", 1, 1), ("0,10,5", 4, 1), ("0,10,5", -1, -1), ("0,10,5", 4, 4), ("0,8,4", 4, 1), ("5,10,5", 4, 1),
            ("5,10,5", 1, 0), ("0,4,2", 4, 1), ("10,12,6", 2, 2), ("0,20,10", 1, 1), ("3,7,1", 4, 1), ("5,10,0", 4, 1), ("0,1,1", 10, 3)]
CUTS = [0, 1, 200, 400, 700, 959, 960, 1000, 1279, 1280, 2000, 9599, 9600, 9601, 10559, 10560, 10700, 19200]

torch.set_num_threads(1)
wav_frontend.WavFrontendOnline.dither = property(lambda self: 0.0, lambda self, v: None)
folder, collection, out = sys.argv[1:]
auto = AutoModel(model=folder, disable_update=True, disable_pbar=True, device="cpu", log_level="ERROR", ncpu=1)
model = auto.model.eval()


def load(name):
    w = wave.open("%s/audio/%s.wav" % (collection, name))
    return np.frombuffer(w.readframes(w.getnframes()), "<i2").astype(np.float32) / 32768


def run(x, setting):
    chunk, encoder, decoder = setting
    ids, margin, plain = [], [99.0], model.cal_decoder_with_predictor_chunk

    def look(*a, **k):
        r = plain(*a, **k)
        best = torch.topk(r[0][0], 2, -1)[0]
        ids.extend(r[0][0].argmax(-1).tolist())
        margin.append(float((best[..., 0] - best[..., 1]).min()))
        return r

    model.cal_decoder_with_predictor_chunk = look
    r = auto.generate(input=x, cache={}, is_final=True, chunk_size=[int(c) for c in chunk.split(",")],
                      encoder_chunk_look_back=encoder, decoder_chunk_look_back=decoder)
    model.cal_decoder_with_predictor_chunk = plain
    return {"chunk": chunk, "encoder": encoder, "decoder": decoder, "ids": [i for i in ids if i > 2], "text": r[0]["text"],
            "margin": round(min(margin), 4)}


with torch.no_grad():
    names = sorted(os.path.basename(f)[:-4] for f in glob.glob(collection + "/audio/*.wav"))
    all = {name: [run(load(name), s) for s in SETTINGS] for name in names}
    for n in CUTS:
        all["cut%d" % n] = [run(load("zh_synth_long")[20000:20000 + n], SETTINGS[i]) for i in (2, 6)]
with open(out, "w", encoding="utf-8") as f:
    rows = ["%s: [\n  %s\n]" % (json.dumps(n), ",\n  ".join(json.dumps(r, ensure_ascii=False) for r in all[n])) for n in all]
    f.write("{\n%s\n}\n" % ",\n".join(rows))
