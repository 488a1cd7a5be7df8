# steno tests: a plain prefix beam search, and what it finds in small random lattices. SPDX-License-Identifier: MIT
#
# python3 tests/golden/make/make_ctc_beam.py > tests/data/ctc_beam.json
# All ids are looked at in every row, texts are tuples, probabilities plain numbers. A bias is a table: push[a][b] for b behind a (the last
# column of a text that is empty).
import json
import math
import random

V, BLANK = 6, 0


def row_probs(logits, barred):
    e = [0 if i == barred else math.exp(x) for i, x in enumerate(logits)]
    return [x / sum(e) for x in e]


def search(rows, width, push, first):
    start = ()
    live = {start: (0.0, 1.0) if first >= 0 else (1.0, 0.0)}  # ways that end with a blank, with the last id
    last_of = lambda t: t[-1] if t else first
    for p in rows:
        grown = {}

        def add(text, blank, label):
            a, b = grown.get(text, (0.0, 0.0))
            grown[text] = (a + blank, b + label)

        for text, (blank, label) in live.items():
            last = last_of(text)
            by = [0 if c == BLANK else push[text[-1] if text else V][c] for c in range(V)]
            more = [p[c] * (math.exp(by[c]) - 1) for c in range(V)]
            after_blank = blank / (1 + sum(more))
            after_label = label / (1 + sum(m for c, m in enumerate(more) if c != last))
            add(text, (after_blank + after_label) * p[BLANK], 0)
            if last >= 0:
                add(text, 0, after_label * p[last])
            for c in range(V):
                if c != BLANK:
                    add(text + (c,), 0, (after_blank + (after_label if c != last else 0)) * p[c] * math.exp(by[c]))
        live = dict(sorted(grown.items(), key=lambda x: -sum(x[1]))[:width])
    best = max(live.items(), key=lambda x: sum(x[1]))
    return list(best[0]), math.log(sum(best[1]))


random.seed(27)
cases = []
for k in range(150):
    n, width, barred = 1 + k % 12, [1, 2, 3, 5, 8, 32][k % 6], random.choice([-1, -1, V - 1])
    first = random.choice([-1, -1, 1, 2])
    logits = [[round(random.gauss(0, 2.5), 3) for _ in range(V)] for _ in range(n)]
    push = [[0] * V for _ in range(V + 1)]
    if k % 2:
        for _ in range(6):
            push[random.randrange(V + 1)][1 + random.randrange(V - 1)] = random.choice([0.5, 1, 2, 4])
    text, logprob = search([row_probs(x, barred) for x in logits], width, push, first)
    cases.append({"width": width, "first": first, "barred": barred, "push": push if k % 2 else None, "logits": logits, "text": text,
                  "logprob": round(logprob, 9)})
print("[\n" + ",\n".join(json.dumps(c) for c in cases) + "\n]")
