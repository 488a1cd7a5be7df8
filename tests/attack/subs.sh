# steno tests: damaged subtitle files through the verbs that read them. SPDX-License-Identifier: MIT
#
# Every round damages a file of a random form in a few random places and gives it to lint-subs and compare: they end soon, with an exit
# code of theirs, and print neither control characters nor bytes that are not UTF-8.
#
#     bash tests/attack/subs.sh [SECONDS [SEED]]    with STENO, the program; without SECONDS the short form
set -u
. "$(dirname "$0")/head.inc"
attack_python "$@" <<'END'
import os, random, subprocess, sys, tempfile, time

cue = '{n}{a} --> {b}\n{t}\n\n'
texts = ['<i>one</i> two', 'tom &amp; jerry', '{\\an8}x', '<v Ann>y<00:00:01.000><c> z</c>', '一 二', '', '7', 'a --> b', '&#39;&#x110000;']

def clock(ms, form):
    h, m, s, f = ms // 3600000, ms // 60000 % 60, ms // 1000 % 60, ms % 1000
    if form == 'ass': return f'{h}:{m:02}:{s:02}.{f // 10:02}'
    if form == 'lrc': return f'{m:02}:{s:02}.{f // 10:02}'
    return f'{h:02}:{m:02}:{s:02}' + (',' if form == 'srt' else '.') + f'{f:03}'

def whole(r, form):
    out = {'vtt': 'WEBVTT\n\n', 'ass': '[Script Info]\n\n[Events]\nFormat: Start, End, Text\n', 'tsv': 'start\tend\ttext\n',
           'csv': 'start,end,text\n', 'json': '{"segments": ['}.get(form, '')
    for i in range(r.randrange(1, 30)):
        a, b, t = clock(i * 1000, form), clock(i * 1000 + 900, form), r.choice(texts)
        if form == 'ass': out += f'Dialogue: {a},{b},{t}\n'
        elif form == 'lrc': out += f'[{a}]{t}\n'
        elif form == 'sbv': out += f'{a},{b}\n{t}\n\n'
        elif form == 'tsv': out += f'{i * 1000}\t{i * 1000 + 900}\t{t}\n'
        elif form == 'csv': out += f'{i * 1000},{i * 1000 + 900},"{t}"\n'
        elif form == 'json': out += ('' if not i else ', ') + '{"start": 1, "end": 2, "text": "x"}'
        elif form == 'txt': out += t + '\n'
        else: out += cue.format(n=f'{i + 1}\n' if form == 'srt' else '', a=a, b=b, t=t)
    return (out + ']}' if form == 'json' else out).encode()

def damaged(r, b):
    b = bytearray(b)
    for _ in range(r.randrange(6)):
        at, n = r.randrange(len(b) + 1), r.randrange(1, 40)
        how = r.randrange(6)
        if how == 0: del b[at:at + n]
        elif how == 1: b[at:at] = b[r.randrange(len(b) + 1):][:n]
        elif how == 2: b[at:at] = r.choice([b'\r', b'\r\n', b'\n\n', b'-->', b'<', b'\xff', b'\x1b]0;t\x07', b'\xe2\x80\xae', b'9' * 30,
                                              b'{', b'\\'])
        elif how == 3 and at < len(b): b[at] = r.randrange(1, 256)
        elif how == 4: b = b.replace(b'\n', r.choice([b'\r', b'\r\n']))
        else: b[0:0] = b'\xef\xbb\xbf'
        if not b: b = bytearray(b'x')
    return bytes(b)

findings, runs, until = 0, 0, time.time() + seconds
with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    open('reference.txt', 'w').write('one two tom and jerry\n')
    for round in range(10 ** 9):
        if round >= 60 and time.time() >= until: break
        r = random.Random(seed * 1000003 + round)
        form = r.choice(['srt', 'vtt', 'ass', 'sbv', 'lrc', 'tsv', 'csv', 'json', 'txt'])
        name = 'a.' + (form if r.random() < 0.8 else 'x')
        open(name, 'wb').write(damaged(r, whole(r, form)))
        for args in (['lint-subs', name], ['lint-subs', '--style', 'netflix', '--json', name], ['compare', 'reference.txt', name],
                     ['compare', name, name]):
            runs += 1
            try:
                p = subprocess.run([steno] + args, stdin=subprocess.DEVNULL, capture_output=True, timeout=60)
                text = (p.stdout + p.stderr).decode()
                ok = p.returncode in (0, 1, 4) and not any(ord(c) < 32 and c not in '\n\t' or 127 <= ord(c) < 160 for c in text)
                why = f'exit code {p.returncode}: {text[:200]!r}'
            except (subprocess.TimeoutExpired, UnicodeDecodeError) as e:
                ok, why = False, repr(e)
            if not ok:
                findings += 1
                print(f'FOUND: seed {seed}, round {round}, {" ".join(args)}: {why}')
        os.unlink(name)
print(f'{runs} runs, {findings} findings')
sys.exit(findings > 0)
END
