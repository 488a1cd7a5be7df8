"""usage: make_jieba.py OUT_JSON OUT_FOLDER

Goldens of punctuation behind jieba, by FunASR and jieba themselves (1.4.16, 0.42.1): a tiny CT-Transformer with random weights whose
vocabulary has words of several characters is written to OUT_FOLDER, with a jieba_usr_dict and, as jieba.c.dict, a dictionary that is
written here. SPDX-License-Identifier: MIT"""
import json, os, random, shutil, sys
import jieba
from make_punctuation import load, tiny, all_marks

COUNTS = """一 217830 m
一个 142747 m
二 30260 m
三 49062 m
三月 2203 t
四 24115 m
五 31200 m
五月 1850 t
六 16140 m
七 12030 m
八 14920 m
九 13010 m
十 41220 m
十五 960 m
十五分 3 x
零 5200 m
百 7100 m
号码 812 n
码 330 n
号 5050 n
我 328841 r
我们 81224 r
们 3200 k
今天 9021 t
今 2100 t
天 34021 n
天气 1320 n
天气预报 212 n
预报 801 n
气 8120 n
很 61230 d
很好 1720 a
好 62310 a
好吗 300 x
吗 42200 y
会议 5050 n
会 80120 v
议 110 v
开始 9870 v
开会 612 v
开 50120 v
始 210 d
了 883634 ul
什么 22070 r
什 40 n
么 520 y
时候 8120 n
时 40120 n
候 100 v
现在 11020 t
在 330120 p
现 1010 v
电话 2270 n
电话号码 73 n
话 15020 n
电 5120 n
卡拉OK 12 n
OK 55 eng
B超 3 n
C++ 7 x
x1 9 x
他 200120 r
说 190220 v
他说 11 x
不 400120 d
不是 31220 c
是 796991 v
是不是 1120 v
长江 1500 ns
长江大桥 30 ns
大桥 820 n
江 1720 n
大 144099 a
桥 1200 n
市长 1630 n
市 7120 n
长 20120 a
南京 1120 ns
南京市 410 ns
南 8120 ns
京 620 ns
"""
OWN = """号码牌
天气好 5 n
今天天气
我们会 100 v
会议开始 n
FunASR
3.5
南京市长江大桥 20 ns
不是吗 0
"""
rng = random.Random(11)


def text_of(n):
    words = [l.split(" ")[0] for l in COUNTS.splitlines()]
    strange = ["Hello", "what", "don't", "x1", "é", "한", "😀", "，", "hello,", "3.5", "_", "9", "a", "B超", "C++", "FunASR", "龙", "。", "22", "OK吗"]
    s = ""
    for _ in range(n):
        r = rng.random()
        w = rng.choice(words) if r < 0.8 else rng.choice(words)[0] if r < 0.88 else rng.choice(strange)
        s += rng.choice(["", "", "", "", "", " ", "\t", "\u3000"]) + w
    return s


def main():
    out_json, folder = sys.argv[1:3]
    words = sorted({l.split(" ")[0] for l in (COUNTS + OWN).splitlines()} - {"天气预报", "B超"}) + ["Hello", "hello", "what", "，"]
    pt = tiny(words, "CTTransformer", "SANMEncoder", 0, 32, 2, 2, 32, folder)
    for name, text in (("jieba_usr_dict", OWN), ("jieba.c.dict", COUNTS)):
        open(os.path.join(folder, name), "w", encoding="utf-8").write(text)
        shutil.copy(os.path.join(folder, name), pt)
    os.remove(os.path.join(pt, "configuration.json"))  # it would have to name the file
    jieba.set_dictionary(os.path.join(folder, "jieba.c.dict"))
    m = load(pt)
    assert m.model.jieba_usr_dict is jieba
    from funasr.models.ct_transformer.utils import split_words
    out = []
    for n in list(range(1, 45)) + [60, 61, 99, 100, 150, 200, 260, 400]:
        t = text_of(n)
        r, margin = all_marks(m, t)
        out.append(dict(text=t, words=split_words(t, jieba_usr_dict=jieba), out=r["text"], punc=[int(p) for p in r["punc_array"]],
                        margin=round(margin, 5)))
    json.dump(out, open(out_json, "w", encoding="utf-8"), ensure_ascii=False, indent=0)
    print(len(out), "texts", sum(o["margin"] < 1e-3 for o in out), "close", sorted({p for o in out for p in o["punc"]}))


main()
