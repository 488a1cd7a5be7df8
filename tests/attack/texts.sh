# steno tests: texts that want to be more than text, in every format and on a terminal. SPDX-License-Identifier: MIT
#
# Every round makes a model whose token " zero" is a random row of what formats, shells and terminals take for orders. All writers and the
# dialects write its text: each file has as many rows or cues as that of a harmless text, is UTF-8 without control characters, and a
# script runs no command of it. What a terminal receives has no escape sequence of it.
#
#     bash tests/attack/texts.sh [SECONDS [SEED]]    with STENO, the program; without SECONDS the short form
set -u
. "$(dirname "$0")/head.inc"
attack_python "$@" <<'END'
import csv, io, json, os, pty, random, re, struct, subprocess, sys, tempfile, time

model, sound = source + '/models/whisper-digits/whisper-digits.bin', source + '/tests/data/demo.wav'
PIECES = ['\n', '\r\n', '\n\n', '\r', '\x0b', '\x0c', '\x1b]0;t\x07', '\x1b[2J', '\x1b[8m', '\x9b31m', '\x85', '\x7f', '\u2028', '\u2029',
          '\u202e', '\u2066', '\ufeff', '\0', '7\n00:00:00,000 --> 00:00:09,000\nx', '-->', 'WEBVTT', 'NOTE x', 'STYLE', '<b>', '</c>',
          '<v Ann>', '&lt;', '&', '{\\an8}', '\\N', '\\h', '}', 'Dialogue: 0,0:00:00.00,0:00:01.00,a,b,0,0,0,,x', '[00:05.00]',
          '<00:06.00>', '[ti:x]', '"', '""', ',', ';', '\t', '=1+1', "'", '`touch canary`', '$(touch canary)', '; touch canary;',
          '" ; touch canary ; "', "' ; touch canary ; '", '\\', '%{eif}', ':', '"}],"x":[{', '\\u0000', '|', '||', '#', 'a', ' ', '一',
          '\U0001f600', '\ud7ff', '\ufffe']

def models(): # head, words, tail
    with open(model, 'rb') as f: b = f.read()
    m, k = struct.unpack_from('<2i', b, 48)
    at = 56 + 4 * m * k
    n, = struct.unpack_from('<i', b, at)
    head, at, words = b[:at], at + 4, []
    for _ in range(n):
        size, = struct.unpack_from('<I', b, at)
        words.append(b[at + 4:at + 4 + size])
        at += 4 + size
    return head, words, b[at:]

HEAD, WORDS, TAIL = models()

def model_write(text):
    words = [text if w == b' zero' else w for w in WORDS]
    with open('evil.bin', 'wb') as f:
        f.write(HEAD + struct.pack('<i', len(words)) + b''.join(struct.pack('<I', len(w)) + w for w in words) + TAIL)

def run(*args):
    p = subprocess.run([steno, *args], stdin=subprocess.DEVNULL, capture_output=True, timeout=120)
    if p.returncode: raise ValueError(f'exit code {p.returncode} of {args}: {p.stderr[-200:]!r}')
    return p

def rows_of(name, text):
    """How many things a file of that name has."""
    if name.endswith(('.srt', '.vtt')): return len(re.findall(r'^[0-9:.,]+ --> [0-9:.,]+', text, re.M)), text.count('-->')
    if name.endswith('.ass'): return len(re.findall(r'^Dialogue: ', text, re.M)), text.count('\n')
    if name.endswith('.csv'): return [len(r) for r in csv.reader(io.StringIO(text))]
    if name.endswith('.tsv'): return [len(line.split('\t')) for line in text.split('\n')]
    if name.endswith('.jsonl'): return [json.loads(line)['type'] for line in text.splitlines()]
    if name.endswith('.json'):
        j = json.loads(text)
        return len(j.get('segments', j.get('transcription', ())) if isinstance(j, dict) else j)
    return text.count('\n')

def files_of(folder, errors):
    out = {}
    for name in sorted(os.listdir(folder)):
        with open(os.path.join(folder, name), encoding='utf-8', errors=errors, newline='') as f: text = f.read()
        if any(ord(c) < 32 and c not in '\n\t' or 127 <= ord(c) < 160 for c in text): raise ValueError(f'{name} has a control character')
        out[name] = rows_of(name, text)
        if name.endswith('.wts'):
            env = {**os.environ, 'PATH': os.getcwd() + '/bin:' + os.environ['PATH']}
            subprocess.run(['bash', os.path.join(folder, name)], env=env, capture_output=True, stdin=subprocess.DEVNULL)
            if os.path.exists('canary'): os.unlink('canary'); raise ValueError(f'{name} has run a command')
    return out

def written():
    for folder in ('own', 'theirs'):
        os.makedirs(folder, exist_ok=True)
        for name in os.listdir(folder): os.unlink(os.path.join(folder, name))
    run('-q', '-m', 'evil.bin', '-l', 'en', '--greedy', '--temperature-increment-on-fallback', '0', '-o', 'own', '-f',
        'txt,srt,vtt,tsv,csv,lrc,wts,ass,json,jsonl', 'a.wav')
    run('--compat', 'whisper-cli', '-np', '-m', 'evil.bin', '-bs', '1', '-nf', '-ml', '9999', '-owts', '-fp', source + '/LICENSE', '-ojf',
        '-ocsv', '-olrc', '-osrt', '-ovtt', '-otxt', '-of', 'theirs/a', '-f', 'a.wav')
    return files_of('own', 'strict'), files_of('theirs', 'replace') # whisper-cli writes the bytes of a model

def shown(*args):
    """What a terminal receives."""
    parent, child = pty.openpty()
    p = subprocess.Popen([steno, *args], stdin=subprocess.DEVNULL, stdout=child, stderr=child)
    os.close(child)
    got = b''
    while True:
        try: part = os.read(parent, 65536)
        except OSError: break
        if not part: break
        got += part
    os.close(parent)
    p.wait()
    return got

with open(sound, 'rb') as f: data = f.read()
findings, runs, until = 0, 0, time.time() + seconds
with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    os.mkdir('bin')
    for name in ('ffmpeg', 'ffprobe'):
        with open('bin/' + name, 'w') as f: f.write('#!/bin/sh\nexit 0\n')
        os.chmod('bin/' + name, 0o755)
    with open('a.wav', 'wb') as f: f.write(data)
    model_write(b' harmless')
    try: want = written()
    except ValueError as e: print(f'FOUND: a harmless text: {e}'); sys.exit(1)
    for round in range(10 ** 9):
        if round >= 12 and time.time() >= until: break
        r = random.Random(seed * 1000003 + round)
        text = (' ' + ''.join(r.choice(PIECES) for _ in range(r.randrange(1, 7)))).encode() + r.choice((b'x', b'', b'\xff', b'\xc2'))
        if round == 0: text = b' a\0bc'
        model_write(text)
        runs += 1
        try:
            got = written()
            with open('own/a.txt', encoding='utf-8') as f:
                if round == 0 and 'a\ufffdbc' not in f.read(): raise ValueError('a text ends at U+0000')
            others = [f'{k}: {g.get(k)}, a harmless text gives {w[k]}' for g, w in zip(got, want) for k in w if g.get(k) != w[k]]
            why = others[0] if others else None
            form = r.choice(('txt', 'srt', 'vtt', 'tsv', 'csv', 'ass', 'lrc', 'json'))
            for args in (['-q', '-m', 'evil.bin', '--greedy', '-f', form, 'a.wav'],
                         ['--compat', 'whisper', '--model', 'evil.bin', 'a.wav', '--output_dir', 'theirs']):
                seen = shown(*args)
                if re.search(rb'\x1b[\]\[]|\x07|\xc2[\x80-\x9f]|\xe2\x80\xae', seen): why = f'a terminal receives {seen[:200]!r}'
        except (subprocess.TimeoutExpired, ValueError, KeyError, AssertionError) as e:
            why = repr(e)
        if why:
            findings += 1
            print(f'FOUND: seed {seed}, round {round}, {text!r}: {why}')
print(f'{runs} rounds, {findings} findings')
sys.exit(findings > 0)
END
