# steno bench: how right the texts of a turn are before its last pass. SPDX-License-Identifier: MIT
"""partials.py -m MODEL [--paddings LIST] [--options "OPT ..."] FILE.wav...

For each padding of the list (0.5 to 30 s), `steno stream` reads the files (16 kHz, mono, 16 bits), with the options, such as
"-l en --vad silero". The reference of a turn is the text that its audio has alone, with the whole window and the options --reference ("-l en").
Prints PADDING, MEASURE, VALUE, separated by tabs:

words       words of the references
early       share of them that became final before the last pass, %
early_wrong errors of these words, %: the fewest insertions, omissions and replacements against a beginning of the reference
shown_wrong the same of final and partial words, as a viewer sees them after each update, %
turn_wrong  errors of the complete texts of turns, %
updates     updates with a partial
bad         those in which more than half of the words, and more than two, are wrong
seconds     time of the program

STENO names the program (build/steno).
"""
import argparse
import json
import os
import re
import shlex
import subprocess
import tempfile
import time
import wave

STENO = os.environ.get("STENO", os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "build", "steno"))
NAMES = ("words", "early", "early_wrong", "shown_wrong", "turn_wrong", "updates", "bad", "seconds")


def words(text):
    return re.sub(r"[^\w']+", " ", text.lower()).split()


def errors(text, reference, whole=True):
    """Edit distance; not whole: to the beginning of the reference that is nearest."""
    row = list(range(len(reference) + 1))
    for i, word in enumerate(text, 1):
        above, row = row, [i]
        for j, other in enumerate(reference, 1):
            row.append(min(above[j] + 1, row[-1] + 1, above[j - 1] + (word != other)))
    return row[-1] if whole else min(row)


def events(args, file, padding):
    r = subprocess.run([STENO, "stream", "-q", "-m", args.model, "--audio-padding", padding, *shlex.split(args.options), file],
                       stdout=subprocess.PIPE, check=True)
    return [json.loads(line) for line in r.stdout.splitlines()]


def references(args, file, turns, known):
    """The text of each turn's audio alone."""
    missing = [t for t in turns if (file, t) not in known]
    with wave.open(file) as f, tempfile.TemporaryDirectory() as folder:
        pcm = f.readframes(f.getnframes())
        for i, (begin, end) in enumerate(missing):
            with wave.open(os.path.join(folder, "%d.wav" % i), "wb") as w:
                w.setparams(f.getparams())
                w.writeframes(pcm[2 * int(begin * 16000):2 * int(end * 16000)])
        names = [os.path.join(folder, "%d.wav" % i) for i in range(len(missing))]
        if names:
            subprocess.run([STENO, "transcribe", "-q", "-m", args.model, *shlex.split(args.reference), "-f", "txt", "-o", folder + "/", *names],
                           check=True)
        for turn, name in zip(missing, names):
            with open(name[:-len("wav")] + "txt", encoding="utf-8") as text:
                known[file, turn] = words(text.read())
    return [known[file, t] for t in turns]


def count(n, lines, reference):
    """Adds the events of one file to the counts n."""
    turn, early = 0, []
    for k, e in enumerate(lines):
        text = reference[turn]
        if e["type"] == "endpoint":
            n["words"] += len(text)
            n["turn_wrong"] += errors(words(e["text"]), text)
            n["early"] += len(words(" ".join(early)))
            n["early_wrong"] += errors(words(" ".join(early)), text, whole=False)
            turn, early = turn + 1, []
        elif e["type"] == "final":
            if k + 1 < len(lines) and lines[k + 1]["type"] != "endpoint":
                early.append(e["text"])
        else:
            shown = words(" ".join([*early, e["text"]]))
            wrong = errors(shown, text, whole=False)
            n["updates"] += 1
            n["shown"] += len(shown)
            n["shown_wrong"] += wrong
            n["bad"] += wrong > max(2, len(shown) / 2)


def main():
    p = argparse.ArgumentParser(usage=__doc__)
    p.add_argument("-m", "--model", required=True)
    p.add_argument("--paddings", default="30,5,3,2,1")
    p.add_argument("--options", default="-l en")
    p.add_argument("--reference", default="-l en")
    p.add_argument("file", nargs="+")
    args, known = p.parse_args(), {}
    for padding in args.paddings.split(","):
        n = dict.fromkeys((*NAMES, "shown"), 0)
        for file in args.file:
            begun = time.monotonic()
            lines = events(args, file, padding)
            n["seconds"] += time.monotonic() - begun
            turns = [(e["start"], e["end"]) for e in lines if e["type"] == "endpoint"]
            count(n, lines, references(args, file, turns, known))
        for name, of in (("early_wrong", "early"), ("shown_wrong", "shown"), ("turn_wrong", "words"), ("early", "words")):
            n[name] = 100 * n[name] / max(1, n[of])
        for name in NAMES:
            print("%s\t%s\t%s" % (padding, name, "%.2f" % n[name] if isinstance(n[name], float) else n[name]), flush=True)


main()
