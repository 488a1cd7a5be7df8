"""usage: make_nano_ctc.py SHARED OUT

A CTC branch for the small Fun-ASR-Nano of the collection (SHARED/material/funasr/models/nano), trained on the texts that the model itself
gives for the collection's clips, and what FunASR's own classes say with it: texts, and times of tokens. OUT gets

  ctc.safetensors                 the branch: ctc_decoder.*, ctc.*
  model.safetensors.index.json    which tensor is in which of two files: the collection's, and that one
  config.json                     the collection's, with the branch's settings
  multilingual.tiktoken           its vocabulary
  golden.json                     {"files": {name: {"text", "ctc_text", "timestamps": [[token, begin, end, score], ...]}}}

Needs torch, torchaudio, FunASR 1.4, safetensors, tiktoken and tokenizers. SPDX-License-Identifier: MIT"""
import base64, copy, glob, json, os, shutil, sys, tempfile, wave
import numpy as np, torch
from safetensors.torch import load_file, save_file

shared, out = sys.argv[1:3]
nano, audio = (os.path.join(shared, "material/funasr", x) for x in ("models/nano", "audio"))
torch.manual_seed(5)
torch.set_num_threads(1)
LAYERS, D, FFN, SPECIALS, STEPS = 2, 128, 64, 6, 150
from funasr import AutoModel
from funasr.frontends import wav_frontend
for cls in (wav_frontend.WavFrontend, wav_frontend.WavFrontendOnline):
    cls.dither = property(lambda self: 0.0, lambda self, v: None)


def load(f):
    w = wave.open(f)
    return torch.from_numpy(np.frombuffer(w.readframes(w.getnframes()), "<i2").astype(np.float32) / 32768)


def open_model(path):
    return AutoModel(model=path, disable_update=True, disable_pbar=True, device="cpu", log_level="ERROR", ncpu=1)


def vocabulary(texts):
    from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, trainers
    pattern = r"""'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"""
    t = Tokenizer(models.BPE())
    t.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(pattern), "isolated"),
                                               pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
    trainer = trainers.BpeTrainer(vocab_size=256 + 40, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), special_tokens=[])
    t.train_from_iterator(texts * 4, trainer)
    chars = [c for c in range(33, 127)] + [c for c in range(161, 173)] + [c for c in range(174, 256)]
    byte_of = {chr(c): c for c in chars}
    rest = [c for c in range(256) if c not in chars]
    byte_of.update({chr(256 + i): c for i, c in enumerate(rest)})
    pieces = [bytes([c]) for c in chars + rest]
    for piece, _ in sorted(t.get_vocab().items(), key=lambda it: it[1]):
        s = bytes(byte_of[c] for c in piece)
        if len(s) > 1:
            pieces.append(s)
    return pieces


def config_with(ranks):
    c = json.load(open(os.path.join(nano, "safetensors/config.json"), encoding="utf-8"))
    c.update(ctc_decoder="Transformer", detach_ctc_decoder=True, ctc_vocab_size=ranks + SPECIALS + 1,
             ctc_decoder_conf=dict(downsample_rate=1, ffn_dim=FFN, llm_dim=D, encoder_dim=128, n_layer=LAYERS, freeze=False),
             ctc_conf=dict(dropout_rate=0.0, ctc_type="builtin", reduce=True, ignore_nan_grad=True),
             dataset_conf=dict(ctc_tokenizer="SenseVoiceTokenizer",
                               ctc_tokenizer_conf=dict(vocab_path="multilingual.tiktoken", is_multilingual=True, num_languages=8749)))
    return c


files = sorted(glob.glob(os.path.join(audio, "*.wav")))
m = open_model(os.path.join(nano, "pt"))
said = {f: m.generate(input=[load(f)], cache={})[0]["text"].strip() for f in files}
enc = {}
with torch.no_grad():
    for f in files:
        _, _, _, _, meta = m.model.inference_prepare([m.model.generate_chatml(m.model.get_prompt([]), load(f))], None, ["k"],
                                                     m.kwargs["tokenizer"], m.kwargs["frontend"], device="cpu")
        enc[f] = meta["encoder_out"]
pieces = vocabulary([t for t in said.values() if t])
os.makedirs(out, exist_ok=True)
with open(os.path.join(out, "multilingual.tiktoken"), "w") as f:
    for i, s in enumerate(pieces):
        f.write("%s %d\n" % (base64.b64encode(s).decode(), i))
import tiktoken
ranks = {s: i for i, s in enumerate(pieces)}
bpe = tiktoken.Encoding("mini", pat_str=r"""'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+""",
                        mergeable_ranks=ranks, special_tokens={})

from funasr.models.llm_asr.adaptor import Transformer
from funasr.models.fun_asr_nano.ctc import CTC
n_vocab, blank = len(pieces) + SPECIALS + 1, len(pieces) + SPECIALS
decoder = Transformer(downsample_rate=1, ffn_dim=FFN, llm_dim=D, encoder_dim=128, n_layer=LAYERS)
head = CTC(odim=n_vocab, encoder_output_size=D, blank_id=blank)
opt = torch.optim.AdamW(list(decoder.parameters()) + list(head.parameters()), lr=3e-3)
loss_of = torch.nn.CTCLoss(blank=blank, zero_infinity=True)
spoken = [f for f in files if said[f]]
for step in range(STEPS):
    loss = 0
    for f in spoken:
        x, n = decoder(enc[f], torch.tensor([enc[f].shape[1]]))
        ids = torch.tensor([bpe.encode(said[f])])
        loss = loss + loss_of(head.log_softmax(x).transpose(0, 1), ids, n, torch.tensor([ids.shape[1]]))
    opt.zero_grad()
    (loss / len(spoken)).backward()
    opt.step()
    if step % 20 == 0:
        print(step, float(loss) / len(spoken), flush=True)
branch = {"ctc_decoder." + k: v for k, v in decoder.state_dict().items()}
branch.update({"ctc." + k: v for k, v in head.state_dict().items()})
branch = {k: v.to(torch.bfloat16).contiguous() for k, v in branch.items()}
save_file(branch, os.path.join(out, "ctc.safetensors"))
whole = load_file(os.path.join(nano, "safetensors/model.safetensors"))
places = {k: "model-00001-of-00002.safetensors" for k in whole}
places.update({k: "model-00002-of-00002.safetensors" for k in branch})
json.dump({"metadata": {}, "weight_map": places}, open(os.path.join(out, "model.safetensors.index.json"), "w"), separators=(",", ":"))
config = config_with(len(pieces))
json.dump(config, open(os.path.join(out, "config.json"), "w"), ensure_ascii=False, indent=1)

with tempfile.TemporaryDirectory() as d:
    import yaml
    os.symlink(os.path.join(nano, "pt/Qwen3-0.6B"), os.path.join(d, "Qwen3-0.6B"))
    shutil.copy(os.path.join(nano, "pt/configuration.json"), d)
    shutil.copy(os.path.join(out, "multilingual.tiktoken"), d)
    config = copy.deepcopy(config)
    config["dataset_conf"]["ctc_tokenizer_conf"]["vocab_path"] = os.path.join(d, "multilingual.tiktoken")
    original = yaml.safe_load(open(os.path.join(nano, "pt/config.yaml"), encoding="utf-8"))
    original.update({k: config[k] for k in ("ctc_decoder", "detach_ctc_decoder", "ctc_vocab_size", "ctc_decoder_conf", "ctc_conf",
                                            "dataset_conf")})
    yaml.safe_dump(original, open(os.path.join(d, "config.yaml"), "w", encoding="utf-8"), allow_unicode=True, sort_keys=False)
    state = torch.load(os.path.join(nano, "pt/model.pt"))["state_dict"]
    state.update(branch)
    torch.save({"state_dict": state}, os.path.join(d, "model.pt"))
    m = open_model(d)
    golden = {"blank": blank, "n_vocab": n_vocab, "files": {}}
    for f in files:
        r = m.generate(input=[load(f)], cache={})[0]
        golden["files"][os.path.basename(f)[:-4]] = dict(
            text=r["text"], ctc_text=r["ctc_text"], ids=m.model.ctc_tokenizer.encode(r["text"]),
            timestamps=[[t["token"], t["start_time"], t["end_time"], t["score"]] for t in r["timestamps"]])
        print(os.path.basename(f), r["text"], "|", r["ctc_text"], r["timestamps"][:4])
json.dump(golden, open(os.path.join(out, "golden.json"), "w", encoding="utf-8"), ensure_ascii=False, separators=(",", ":"))
