#!/usr/bin/env bash
# steno: an attack on the command line. SPDX-License-Identifier: MIT
#
# options.sh [SECONDS [SEED]]   random command lines of all verbs: options as the help lists them, values at, below and above their
# ranges, words, garbage and nothing; options twice, joined and misspelled; files that are missing, folders, damaged. Nothing may crash or
# hang; the exit code is one of the table; a failure is reported; a refusal before work starts has no names of the library.
# STENO names the program, STENO_SHARED the collection (for models of other families). Each finding ends with a line that repeats it.
set -u
: "${STENO:?the program to attack}"
command -v python3 >/dev/null || { echo "skipped: there is no python3"; exit 77; }
exec python3 - "$(realpath "$STENO")" "$(cd "$(dirname "$0")/../.." && pwd)" "${1:-6}" "${2:-1}" <<'PYTHON'
import os, random, re, shlex, subprocess, sys, tempfile, time

steno, src, seconds, seed = sys.argv[1], sys.argv[2], float(sys.argv[3]), int(sys.argv[4])
rng = random.Random(seed)
verbs = ["transcribe", "translate", "align", "detect", "vad", "convert", "quantize", "info", "bench", "doctor"]
shared = os.environ.get("STENO_SHARED", "")
home = tempfile.mkdtemp(prefix="steno-attack-")
env = dict(os.environ, HOME=home, LC_ALL="C.UTF-8")
for name in ("STENO_MODEL", "XDG_CACHE_HOME", "HF_HOME", "HF_HUB_CACHE"):
    env.pop(name, None)

def put(name, data):
    path = os.path.join(home, name)
    with open(path, "wb") as f:
        f.write(data)
    return path

def wav(seconds, channels=1):
    n = int(seconds * 16000)
    pcm = bytes(rng.randrange(256) for _ in range(1000)) * (2 * channels * n // 1000 + 1)
    pcm = pcm[:2 * channels * n]
    head = b"RIFF" + (36 + len(pcm)).to_bytes(4, "little") + b"WAVEfmt " + (16).to_bytes(4, "little") + (1).to_bytes(2, "little")
    head += channels.to_bytes(2, "little") + (16000).to_bytes(4, "little") + (32000 * channels).to_bytes(4, "little")
    return head + (2 * channels).to_bytes(2, "little") + (16).to_bytes(2, "little") + b"data" + len(pcm).to_bytes(4, "little") + pcm

short, stereo = put("a.wav", wav(0.3)), put("b.wav", wav(0.2, 2))
broken, empty = put("broken.wav", b"RIFF1234WAVEjunk"), put("empty", b"")
grammar, words = put("g.gbnf", b'root ::= "a"'), put("words.txt", b"one\ntwo\n")
os.mkdir(os.path.join(home, "folder"))
models = [os.path.join(src, "models/whisper-digits/whisper-digits.bin"), broken, empty, os.path.join(home, "none.bin"), home]
for path in ("material/funasr/models/sensevoice/pt", "material/funasr/fsmn-vad/pt"):
    if os.path.isdir(os.path.join(shared, path)):
        models += [os.path.join(shared, path)] * 2

def options_of(verb):
    text = subprocess.run([steno, verb, "--help"], capture_output=True, env=env, timeout=60).stdout.decode()
    found = []
    for line in text.split("\n"):
        m = re.match(r"  (-\w, |    )--(\[no-\])?([a-z-]+)( \S+)?", line)
        if m:
            value = (m.group(4) or "").strip()
            found.append((m.group(3), m.group(1).strip(" -,"), bool(m.group(2)), value))
    return found

options = {v: options_of(v) for v in verbs}
numbers = ["0", "1", "-1", "2", "5", "16", "17", "32", "33", "129", "256", "1000", "1e3", "0.5", "-0.5", "1.0000001", "100", "1e9", "1e308",
           "-1e308", "1e-310", "99999999999999999999", "-99999999999999999999", "nan", "inf", "0x10", "1,2", "", " 1", "1 ", "none", "+3"]
garbage = ["", " ", "-", "--", "=", "\xff\xfe", "\u0662", "x" * 5000, "%s%n", "$(true)", "{stem}", "a|b",
           "all", "auto", "\x1b[2J", "no-such", "1,,2", "0,1,0.5", "-1,5", "root::=\"a\"", "root ::= (", "[a-", "*", "@none", "../x", "\n"]

def value_of(name, hint):
    kind = rng.random()
    if "|" in hint and kind < 0.5:
        return rng.choice(hint.split("|"))
    if name in ("model", "vad-model", "vocab") and kind < 0.9:
        return rng.choice(models)
    if name in ("output-dir",):
        return os.path.join(home, rng.choice(["folder", "new", "a.wav", "folder/deep/er"]))
    if name in ("grammar", "hotwords") and kind < 0.5:
        return rng.choice([grammar, "@" + words, empty, "@" + empty, 'root ::= "a" | "b"', home, "@" + home])
    if name == "language" and kind < 0.6:
        return rng.choice(["en", "zh", "de", "auto", "English", "xx"])
    if name in ("runs",):
        return rng.choice(["0", "x", "-1"]) # a whole measurement takes long
    return rng.choice(numbers if kind < 0.8 else garbage)

def spell(name, letter, pair, hint):
    form = rng.random()
    word = ("no-" if pair and rng.random() < 0.4 else "") + name
    if form < 0.05:
        at = rng.randrange(len(word))
        word = word[:at] + rng.choice("abcxyz-_") + word[at + 1:]
    if form < 0.15:
        word = word.replace("-", "_")
    if not hint:
        return ["-" + letter] if letter and form > 0.7 else ["--" + word + ("=1" if form > 0.97 else "")]
    value = value_of(name, hint)
    if letter and form > 0.7:
        return ["-" + letter + value] if form > 0.85 else ["-" + letter, value]
    return ["--" + word + "=" + value] if form < 0.5 else ["--" + word, value] if form < 0.68 else ["--" + word]

def command():
    verb = rng.choice(verbs + ["transcribe"] * 6 + ["vad", "align", ""])
    line = []
    for _ in range(rng.choice([0, 1, 1, 2, 2, 3, 4, 6, 12])):
        line += spell(*rng.choice(options[verb or "transcribe"]))
    if verb in ("convert", "quantize"): # what is written is never one of the models
        line += [rng.choice(models), os.path.join(home, rng.choice(["w.gguf", "folder", "none/w.gguf"]))]
        return [verb] + line + ([rng.choice(["f16", "q8_0", "x"])] if verb == "quantize" else [])
    files = [short, short, stereo, broken, empty, os.path.join(home, "none.wav"), home, "-", os.path.join(home, "folder")]
    if verb not in ("info", "bench", "doctor") and not any(w.startswith(("-m", "--model", "--demo")) for w in line):
        if rng.random() < 0.9:
            line += ["-m", rng.choice([models[0]] * 4 + models)]
    line += [rng.choice(files) for _ in range(rng.choice([0, 1, 1, 1, 1, 1, 2, 3]))]
    if verb == "align" and rng.random() < 0.8:
        line.append(rng.choice(["one two", "", "@" + words, "\xff", "@none", "zero " * 50]))
    if verb == "bench":
        line += ["--runs", rng.choice(["0", "x"])] # refused in any case
    if rng.random() < 0.1:
        rng.shuffle(line)
    return ([verb] if verb else []) + [w.replace("\0", "") for w in line]

# Names of fields with _ in them; a message may show them only inside what the user wrote.
fields = set(re.findall(r"\b([a-z]+(?:_[a-z]+)+);", open(os.path.join(src, "include/steno/steno.h")).read()))

def faults(line, run):
    err = run.stderr.decode("utf-8", "replace")
    if run.returncode < 0 or run.returncode > 6:
        yield "exit code %d" % run.returncode
    if run.returncode and not err.strip() and not (line[:1] == ["doctor"] and run.stdout.strip()): # what is wrong is its output
        yield "exit code %d without a message" % run.returncode
    if run.returncode == 0 and "steno: unknown" in err:
        yield "reported and ignored"
    typed = " ".join(line)
    for word in re.findall(r"[a-z]+(?:_[a-z]+)+", err):
        if run.returncode == 2 and word in fields and word not in typed:
            yield "the message has %s" % word
    try:
        run.stderr.decode("utf-8")
    except UnicodeDecodeError:
        yield "the message is not UTF-8"

began, n, found, codes = time.time(), 0, 0, {}
while time.time() - began < seconds:
    line = command()
    argv = [w.encode("latin-1") if any(0x80 <= ord(c) < 0x100 for c in w) else w.encode() for w in line]
    n += 1
    try:
        run = subprocess.run([steno.encode()] + argv, stdin=open(rng.choice([short, os.devnull, empty])), capture_output=True, env=env,
                             cwd=home, timeout=60)
        codes[run.returncode] = codes.get(run.returncode, 0) + 1
        wrong, told = sorted(set(faults(line, run))), run.stderr.decode("utf-8", "replace")
    except subprocess.TimeoutExpired:
        wrong, told = ["it does not end within 60 s"], ""
    for w in wrong:
        found += 1
        print("FINDING %d (seed %d, line %d): %s\n  %s\n  %s" % (found, seed, n, w, told[:400].replace("\n", "\n  "),
              " ".join([steno] + [shlex.quote(x) for x in line])))
for path, folders, names in os.walk(home, topdown=False):
    for name in names:
        os.unlink(os.path.join(path, name))
    os.rmdir(path)
print("%d command lines in %.0f s, seed %d: exit codes %s; %d findings" %
      (n, time.time() - began, seed, ", ".join("%d: %d" % kv for kv in sorted(codes.items())), found))
sys.exit(found > 0)
PYTHON
