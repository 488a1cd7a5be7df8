"""usage: make_punctuation.py MODEL OUT_JSON OUT_FOLDER OUT_HEADS

Goldens of punctuation by FunASR itself (1.4.16 with torch): texts of random words through the CT-Transformer in the folder MODEL; through
a tiny streaming one with random weights, which is written to OUT_FOLDER, in calls that go on; and through one with heads of 43 numbers,
which is written to OUT_HEADS. SPDX-License-Identifier: MIT"""
import json, os, random, struct, sys
import torch, yaml
from funasr import AutoModel
from funasr.register import tables
import funasr.models.ct_transformer_streaming.encoder  # noqa: F401

torch.set_num_threads(1)
torch.manual_seed(7)
rng = random.Random(7)
margins = []


def watched(forward):
    def f(**kw):
        y, none = forward(**kw)
        v = torch.topk(y[0], 2, -1)[0]
        margins.append(float((v[:, 0] - v[:, 1]).min()))
        return y, none
    return f


def load(folder):
    m = AutoModel(model=folder, disable_update=True, disable_pbar=True, device="cpu", log_level="ERROR", ncpu=1)
    m.model.eval()
    m.model.punc_forward = watched(m.model.punc_forward)
    return m


def text_of(words, n):
    strange = ["Hello", "HELLO", "WHAT", "don't", "x1", "é", "ñ", "한", "ü", "😀", "，", "hello,", "what?", "3.5", "_", "ا"]
    spaces = ["", " ", " ", "\t", "\n", "\u3000", "  "]
    kind, s = rng.choice("zem"), ""
    zh = [w for w in words if not w.isascii()]
    en = [w for w in words if w.isascii()]
    for _ in range(n):
        w = rng.choice(strange) if rng.random() < 0.04 else rng.choice(zh if kind == "z" or (kind == "m" and rng.random() < 0.6) else en)
        gap = rng.choice(spaces)
        if w.isascii() and s and s[-1].isascii() and not s[-1].isspace() and not gap:
            gap = " "
        s += gap + w
    return s


def all_marks(m, text, **kw):
    margins.clear()
    with torch.no_grad():
        r = m.generate(input=text, **kw)[0]
    return r, min(margins) if margins else 99.0


def tiny(words, name, encoder, shift, width, heads, blocks, ff, folder):
    """A model with random weights, its head such that all marks come, in `folder`; weights are what f16 can hold. -> the same as .pt"""
    marks = ["<unk>", "_", "，", "。", "？", "、"]
    toks = ["<blank>", "<s>", "</s>"] + words + ["<unk>"]
    conf = dict(model=name,
                model_conf=dict(ignore_id=0, embed_unit=width, att_unit=width, dropout_rate=0.1, punc_list=marks, punc_weight=[1.0] * 6,
                                sentence_end_id=3),
                encoder=encoder,
                encoder_conf=dict(input_size=width, output_size=width, attention_heads=heads, linear_units=ff, num_blocks=blocks,
                                  dropout_rate=0.0, positional_dropout_rate=0.0, attention_dropout_rate=0.0, input_layer="pe",
                                  pos_enc_class="SinusoidalPositionEncoder", normalize_before=True, kernel_size=11, sanm_shfit=shift,
                                  selfattention_layer_type="sanm", padding_idx=0),
                tokenizer="CharTokenizer", tokenizer_conf=dict(unk_symbol="<unk>"))
    net = tables.model_classes.get(name)(encoder=encoder, encoder_conf=dict(conf["encoder_conf"]), vocab_size=len(toks),
                                         **conf["model_conf"])
    state = net.state_dict()
    half = name == "CTTransformer"
    for k, v in state.items():
        if v.dim() > 1:
            v.copy_(torch.randn_like(v) * (1.0 if k == "embed.weight" else 0.9 if "decoder" in k else 0.3 if width < 50 else 0.12))
        if half:
            v.copy_(v.half().float())
    state["decoder.bias"].copy_(torch.tensor([-30.0, 1.5, 0.0, -0.5, -0.5, -0.5]))
    pt = os.path.join("/tmp", "marks_" + name + "_pt")
    os.makedirs(pt, exist_ok=True)
    os.makedirs(folder, exist_ok=True)
    torch.save({k: v.clone() for k, v in state.items()}, os.path.join(pt, "model.pt"))
    json.dump(toks, open(os.path.join(pt, "tokens.json"), "w", encoding="utf-8"), ensure_ascii=False)
    yaml.safe_dump(conf, open(os.path.join(pt, "config.yaml"), "w", encoding="utf-8"), allow_unicode=True, sort_keys=False)
    json.dump({"framework": "pytorch", "task": "punctuation", "model": {"type": "funasr"},
               "file_path_metas": {"init_param": "model.pt", "config": "config.yaml", "tokenizer_conf": {"token_list": "tokens.json"}}},
              open(os.path.join(pt, "configuration.json"), "w"))
    head, body = {}, b""
    for k, v in state.items():
        data = (v.half() if half else v).contiguous().numpy().tobytes()
        head[k] = {"dtype": "F16" if half else "F32", "shape": list(v.shape), "data_offsets": [len(body), len(body) + len(data)]}
        body += data
    head = json.dumps(head).encode()
    head += b" " * (-len(head) % 8)
    open(os.path.join(folder, "model.safetensors"), "wb").write(struct.pack("<Q", len(head)) + head + body)
    json.dump(conf, open(os.path.join(folder, "config.json"), "w", encoding="utf-8"), ensure_ascii=False, indent=0)
    json.dump(toks, open(os.path.join(folder, "tokens.json"), "w", encoding="utf-8"), ensure_ascii=False, indent=0)
    return pt


def marked(m, texts):
    out = []
    for t in texts:
        if t.strip():
            r, margin = all_marks(m, t)
            out.append(dict(text=t, out=r["text"], punc=[int(p) for p in r["punc_array"]], margin=round(margin, 5)))
    return out


def main():
    source, out_json, out_folder, out_heads = sys.argv[1:5]
    model = load(source)
    words = json.load(open(os.path.join(source, "tokens.json"), encoding="utf-8"))[3:-1]
    lengths = list(range(1, 45)) + [59, 60, 61, 99, 100, 101, 199, 200, 201, 220, 221, 260, 333, 400, 500]
    texts = [text_of(words, n) for n in lengths]
    quiet = [w for w in words if w not in "九了吗" and w not in ("nine", "what")]
    texts += [" ".join(rng.choice(quiet) for _ in range(n)) for n in (180, 230, 300, 450)]      # commas alone: cut behind 200 words
    silent = [w for w in quiet if w not in "七呢零" and w not in ("seven", "zero")]
    texts += ["".join(rng.choice([w for w in silent if not w.isascii()]) for _ in range(n)) for n in (250, 500)]  # no mark at all
    offline = marked(model, texts)

    # ---- one that marks text as it comes
    live = load(tiny(words, "CTTransformerStreaming", "SANMVadEncoder", 5, 16, 2, 3, 32, out_folder))
    streams = []
    for i in range(40):
        cache, calls = {}, []
        for _ in range(rng.randint(1, 7)):
            t = text_of(words, rng.choice([1, 2, 3, 5, 8, 13, 19, 20, 21, 34, 60, 130 if i % 10 == 0 else 7]))
            if not t.strip():
                continue
            try:
                r, margin = all_marks(live, t, cache=cache)
            except TypeError:  # the reference cannot take a single word where nothing was before it
                continue
            calls.append(dict(text=t, out=r["text"], margin=round(margin, 5)))
        streams.append(calls)
    # ---- one whose heads, as those of the large published one, are 43 wide
    wide = load(tiny(words, "CTTransformer", "SANMEncoder", 0, 86, 2, 2, 16, out_heads))
    heads = marked(wide, [text_of(words, n) for n in list(range(1, 30)) + [45, 60, 100, 150, 230]])
    json.dump(dict(offline=offline, streams=streams, heads=heads), open(out_json, "w", encoding="utf-8"), ensure_ascii=False, indent=0)
    print(len(offline), "texts", sum(o["margin"] < 0.02 for o in offline), "close;", len(streams), "streams,",
          sum(c["margin"] < 1e-3 for s in streams for c in s), "of", sum(len(s) for s in streams), "calls close;", len(heads), "texts,",
          sum(o["margin"] < 1e-3 for o in heads), "close;", sorted({p for o in heads for p in o["punc"]}))
    print([c["out"] for c in streams[3]][:4])


if __name__ == "__main__":
    main()
