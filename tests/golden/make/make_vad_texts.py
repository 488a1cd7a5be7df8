"""usage: make_vad_texts.py COLLECTION OUT.json
The text of FunASR's AutoModel(model, vad_model).generate() for the voice-activity recordings. COLLECTION: the folder of FunASR's models and
audio. FunASR 1.4.16, PyTorch on one thread, dither 0."""
import json, os, sys
import torch

torch.set_num_threads(1)
from funasr import AutoModel
from funasr.frontends.wav_frontend import WavFrontend

WavFrontend.dither = property(lambda self: 0.0, lambda self, v: None)
C = sys.argv[1]
FILES = ["jfk", "pauses", "sample", "speech_in_noise", "asr_example", "silence5s", "vad_example"]
SETTINGS = {  # name: (max_single_segment_time, arguments of generate)
    "default": (60000, {}),
    "fixed500": (60000, {"max_end_silence_time": 500}),
    "max5s": (5000, {}),
    "merged15": (60000, {"max_end_silence_time": 500, "merge_vad": True}),  # merge_length_s of a call is not looked at
}
gold = {}
for which in ("sensevoice", "paraformer"):
    m = AutoModel(model=os.path.join(C, "models", which, "pt"), vad_model=os.path.join(C, "fsmn-vad/pt"), disable_update=True,
                  disable_pbar=True, device="cpu", log_level="ERROR", ncpu=1)
    for name, (most, given) in SETTINGS.items():
        for f in FILES:
            m.vad_model.vad_opts.max_end_silence_time, m.vad_model.vad_opts.max_single_segment_time = 800, most
            r = m.generate(input=os.path.join(C, "audio/vad", f + ".wav"), **given)
            gold.setdefault(which, {}).setdefault(f, {})[name] = r[0]["text"] if r else ""
            print(which, name, f, gold[which][f][name], flush=True)
json.dump(gold, open(sys.argv[2], "w"), separators=(",", ":"), ensure_ascii=False)
