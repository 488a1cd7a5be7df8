"""A small Contextual Paraformer with random weights, and what FunASR makes of a recording with several lists of hot words.

usage: make_contextual.py OUT_DIR SOUND.wav
Needs funasr 1.4 and torch; dither is pinned to 0, one thread, f32. Everything it writes was made for this project."""
import json, os, sys, wave
import numpy as np
import torch
from safetensors.torch import save_file
from funasr.register import tables
from funasr.frontends.wav_frontend import WavFrontend
from funasr.models.contextual_paraformer.model import ContextualParaformer
import funasr.models.contextual_paraformer.decoder, funasr.models.sanm.encoder, funasr.models.paraformer.cif_predictor
from funasr.tokenizer.char_tokenizer import CharTokenizer
from funasr.utils.load_utils import extract_fbank

D, FEATURES = 32, 560
TOKENS = ["<blank>", "<s>", "</s>"] + list("零一二三四五六七八九你好我们大家来") + ["one", "two", "se@@", "ven", "al@@", "pha", "a", "b", "c", "<unk>"]
SEG = {w: w for w in "零 一 二 三 四 五 六 七 八 九 你 好 我 们 大 家 来 one two".split()} | {"seven": "se@@ ven", "alpha": "al@@ pha", "你好": "你 好"}
CONFIG = {
    "model": "ContextualParaformer",
    "model_conf": {"ctc_weight": 0.0, "lsm_weight": 0.1, "length_normalized_loss": True, "predictor_weight": 1.0, "predictor_bias": 1,
                   "sampling_ratio": 0.75, "inner_dim": D},
    "encoder": "SANMEncoder",
    "encoder_conf": {"output_size": D, "attention_heads": 4, "linear_units": 64, "num_blocks": 2, "dropout_rate": 0.1,
                     "positional_dropout_rate": 0.1, "attention_dropout_rate": 0.1, "input_layer": "pe",
                     "pos_enc_class": "SinusoidalPositionEncoder", "normalize_before": True, "kernel_size": 11, "sanm_shfit": 0,
                     "selfattention_layer_type": "sanm"},
    "decoder": "ContextualParaformerDecoder",
    "decoder_conf": {"attention_heads": 4, "linear_units": 64, "num_blocks": 3, "dropout_rate": 0.1, "positional_dropout_rate": 0.1,
                     "self_attention_dropout_rate": 0.1, "src_attention_dropout_rate": 0.1, "att_layer_num": 3, "kernel_size": 11,
                     "sanm_shfit": 0},
    "predictor": "CifPredictorV2",
    "predictor_conf": {"idim": D, "threshold": 1.0, "l_order": 1, "r_order": 1, "tail_threshold": 0.45},
    "tokenizer": "CharTokenizer",
    "tokenizer_conf": {"unk_symbol": "<unk>", "split_with_space": True},
    "frontend": "WavFrontend",
    "frontend_conf": {"fs": 16000, "window": "hamming", "n_mels": 80, "frame_length": 25, "frame_shift": 10, "lfr_m": 7, "lfr_n": 6},
    "vocab_size": len(TOKENS),
}
LISTS = {"none": [], "one": ["你好"], "phrase": ["seven alpha"], "three": ["seven", "我们", "大家 来"], "unknown": ["xyz", "鑫鑫"],
         "capitals": ["ALPHA", "One"], "sixty": [a + b for a in "零一二三四五" for b in "零一二三四五六七八九"], "long": ["零一二三四五六七八九" * 6]}


def make_model():
    torch.manual_seed(11)
    m = ContextualParaformer(encoder=CONFIG["encoder"], encoder_conf=CONFIG["encoder_conf"], decoder=CONFIG["decoder"],
                             decoder_conf=CONFIG["decoder_conf"], predictor=CONFIG["predictor"], predictor_conf=CONFIG["predictor_conf"],
                             input_size=FEATURES, vocab_size=len(TOKENS), ignore_id=-1, sos=1, eos=2, **CONFIG["model_conf"])
    with torch.no_grad():
        for name, p in m.named_parameters():
            if name.endswith("bias"):
                p.copy_(torch.randn_like(p) * 0.05)
            elif "norm" not in name:
                p.copy_(torch.randn_like(p) / max(1, p[0].numel()) ** 0.5)
        m.predictor.cif_output.bias.fill_(-0.7)
        m.bias_embed.weight.copy_(torch.randn_like(m.bias_embed.weight))
        m.decoder.bias_output.weight.mul_(3)
        m.decoder.output_layer.weight.mul_(6) # so that choices are ahead of others
    return m.eval()


def write_folder(out, m):
    os.makedirs(out, exist_ok=True)
    keep = {k: v.contiguous() for k, v in m.state_dict().items() if k.split(".")[0] in ("encoder", "decoder", "predictor", "bias_encoder", "bias_embed")}
    save_file(keep, os.path.join(out, "model.safetensors"))
    put = lambda name, text: open(os.path.join(out, name), "w", encoding="utf-8").write(text)
    put("config.json", json.dumps(CONFIG, indent=1))
    put("tokens.json", json.dumps(TOKENS, ensure_ascii=False, indent=0))
    put("seg_dict", "".join("%s %s\n" % kv for kv in SEG.items()))
    line = lambda v: "<LearnRateCoef> 0 [ " + " ".join(["%g" % v] * FEATURES) + " ]\n"
    put("am.mvn", "<Nnet>\n<Splice> 560 560\n[ 0 ]\n<AddShift> 560 560\n" + line(-12.5) + "<Rescale> 560 560\n" + line(0.2) + "</Nnet>\n")


def main(out, sound):
    torch.set_num_threads(1)
    WavFrontend.dither = property(lambda self: 0.0, lambda self, v: None)
    m = make_model()
    write_folder(out, m)
    fe = WavFrontend(cmvn_file=os.path.join(out, "am.mvn"), **CONFIG["frontend_conf"])
    tok = CharTokenizer(token_list=TOKENS, **CONFIG["tokenizer_conf"])
    w = wave.open(sound)
    x = np.frombuffer(w.readframes(w.getnframes()), "<i2").astype(np.float32) / 32768
    results = {}
    with torch.no_grad():
        feats, n = extract_fbank([torch.from_numpy(x.copy())], data_type="sound", frontend=fe)
        e, el = m.encode(feats, n)
        embeds, count = m.calc_predictor(e, el)[:2]
        count = count.round().long()
        for name, words in LISTS.items():
            path = os.path.join(out, "words.txt")
            open(path, "w", encoding="utf-8").write("".join(v + "\n" for v in words))
            ids = m.generate_hotwords_list(path, tokenizer=tok, frontend=fe) if words else None
            os.remove(path)
            p = m.cal_decoder_with_predictor(e, el, embeds, count, hw_list=ids)[0][0, : int(count)]
            top = p.topk(2, -1)[0]
            r = m.inference([torch.from_numpy(x.copy())], key=["k"], tokenizer=tok, frontend=fe, device="cpu",
                            hotword=None if not words else " ".join(words) if all(" " not in v for v in words) else None)[0][0]
            text = r["text"] if not words or all(" " not in v for v in words) else None
            results[name] = {"words": words, "word_ids": ids, "ids": p.argmax(-1).tolist(), "text": text,
                             "logprobs": [round(float(v), 5) for v in top[:, 0]], "min_margin": float((top[:, 0] - top[:, 1]).min())}
    json.dump(results, open(os.path.join(out, "golden.json"), "w", encoding="utf-8"), ensure_ascii=False, indent=1)
    for k, v in results.items():
        print(k, v["ids"], v["text"], round(v["min_margin"], 4))


main(*sys.argv[1:])
