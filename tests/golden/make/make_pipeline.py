"""usage: make_pipeline.py COLLECTION OUT.json
What FunASR's AutoModel(model, vad_model, punc_model).generate() returns for the collection's recordings and for long ones made of them: with
its defaults, and with times and sentences. Where texts of two spans meet without a space FunASR takes two characters for one word, and texts
of sentences are behind their times from there on; here it is given all words with a space. COLLECTION: the folder of FunASR's models and audio. FunASR 1.4.16, PyTorch on one thread, dither
0. SPDX-License-Identifier: MIT"""
import json, os, shutil, sys, tempfile, wave
import torch

torch.set_num_threads(1)
from funasr import AutoModel
from funasr.frontends.wav_frontend import WavFrontend

import funasr.auto.auto_model as auto
from funasr.models.ct_transformer.utils import split_words

WavFrontend.dither = property(lambda self: 0.0, lambda self, v: None)
in_words = auto.timestamp_sentence
auto.timestamp_sentence = lambda marks, times, text, **kw: in_words(marks, times, " ".join(split_words(text)), **kw)
C, OUT = sys.argv[1:3]
FOLDER = tempfile.mkdtemp()
SHORT = ["en_bgm", "en_george", "en_jackson", "en_lucas", "en_nicolas", "en_synth_sad", "en_theo_noisy", "ja_synth", "ko_synth", "noise", "silence",
         "yue_synth", "zh_synth", "zh_synth_happy", "zh_synth_long", "vad/asr_example", "vad/jfk", "vad/noise10s", "vad/pauses", "vad/sample",
         "vad/silence5s", "vad/speech_in_noise", "vad/vad_example"]
SPOKEN = ["zh_synth_long", "en_george", "en_lucas", "zh_synth", "en_jackson", "zh_synth_happy", "en_nicolas", "vad/pauses"]
# a long recording: its parts, and the samples of silence behind each
LONG = {"mixed": [[SPOKEN[i * 5 % len(SPOKEN)], 4000 + i * 7919 % 40000] for i in range(40)],
        "chinese": [[["zh_synth_long", "zh_synth", "zh_synth_happy"][i % 3], 9600 + i * 3571 % 24000] for i in range(36)],
        "english": [[["en_george", "en_lucas", "en_jackson", "en_nicolas"][i % 4], 8000 + i * 5077 % 32000] for i in range(36)]}


def pcm(name):
    with wave.open(os.path.join(C, "audio", name + ".wav")) as w:
        assert (w.getframerate(), w.getnchannels(), w.getsampwidth()) == (16000, 1, 2), name
        return w.readframes(w.getnframes())


def compose(name, parts):
    path = os.path.join(FOLDER, name + ".wav")
    with wave.open(path, "wb") as w:
        w.setparams((1, 2, 16000, 0, "NONE", ""))
        for part, silence in parts:
            w.writeframes(pcm(part) + bytes(2 * silence))
    return path


def weights(which):
    """The folder of a model; some have their weights as safetensors alone."""
    pt = os.path.join(C, "models", which, "pt")
    if os.path.exists(os.path.join(pt, "model.pt")):
        return pt
    from safetensors.torch import load_file
    own = os.path.join(FOLDER, which)
    shutil.copytree(pt, own)
    torch.save(load_file(os.path.join(C, "models", which, "safetensors/model.safetensors")), os.path.join(own, "model.pt"))
    return own


inputs = {os.path.basename(f): os.path.join(C, "audio", f + ".wav") for f in SHORT}
inputs.update({k: compose(k, v) for k, v in LONG.items()})
gold = {"long": LONG, "results": {}}
for which, timed in (("sensevoice", {"output_timestamp": True}), ("paraformer", {"pred_timestamp": True}), ("paraformer-bicif", {})):
    m = AutoModel(model=weights(which), vad_model=os.path.join(C, "fsmn-vad/pt"), punc_model=os.path.join(C, "models/punc/pt"),
                  disable_update=True, disable_pbar=True, device="cpu", log_level="ERROR", ncpu=1)
    for name, path in inputs.items():
        m.vad_model.vad_opts.max_end_silence_time = 800
        got = {}
        for how, given in (("plain", {}), ("timed", dict(timed, sentence_timestamp=True))):
            try:
                r = m.generate(input=path, **given)
            except Exception as e:
                r = [{"failed": repr(e)}]
            got[how] = r[0] if r else {}
            got[how].pop("key", None)
        gold["results"].setdefault(which, {})[name] = got
        print(which, name, got["plain"].get("text"), flush=True)
json.dump(gold, open(OUT, "w"), separators=(",", ":"), ensure_ascii=False)
