# steno tests: containers whose times are damaged. SPDX-License-Identifier: MIT
#
# Every round writes other numbers where a container has its times (edit lists and time scales of MP4, clusters and blocks of Matroska, the
# heads of AVI), sometimes cuts or scrambles it, and transcribes it from the file or from a pipe: the run ends soon, with an exit code
# of its own, and the cues are in order and end with the sound.
#
#     bash tests/attack/clocks.sh [SECONDS [SEED]]    with STENO, the program; without SECONDS the short form
set -u
. "$(dirname "$0")/head.inc"
attack_python "$@" <<'END'
import json, os, random, struct, subprocess, sys, tempfile, time

model, audio = source + '/models/whisper-digits/whisper-digits.bin', source + '/tests/data/audio/'
ODD = (0, 1, 2, 0x7f, 0x80, 0xff, 0x7fff, 0x8000, 0xffff, 0x7fffffff, 0x80000000, 0xffffffff, 1000, 16000, 48000, 90000,
       1 << 40, (1 << 63) - 1)

def box(tag, *parts): # of RIFF
    body = b''.join(parts)
    return tag + struct.pack('<I', len(body)) + body + b'\0' * (len(body) % 2)

def avi(pcm):
    head = struct.pack('<14I', 1000000, 32000, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0)
    stream = b'auds' + struct.pack('<4I', 0, 0, 0, 0) + struct.pack('<7I', 1, 16000, 32000, len(pcm) // 2, 32000, 0, 2) + bytes(8)
    form = struct.pack('<HHIIHH', 1, 1, 16000, 32000, 2, 16)
    chunks = [box(b'00wb', pcm[i:i + 16000]) for i in range(0, len(pcm), 16000)]
    heads = box(b'LIST', b'hdrl', box(b'avih', head), box(b'LIST', b'strl', box(b'strh', stream), box(b'strf', form)))
    return box(b'RIFF', b'AVI ', heads, box(b'LIST', b'movi', *chunks))

# What holds times: tag, where behind it numbers may stand, their sizes, the order of their bytes.
TIMES = {
    'mp4': ((b'elst', range(4, 40, 4), (4, 8), 'big'), (b'mdhd', range(4, 28, 4), (4, 8), 'big'), (b'mvhd', range(4, 28, 4), (4, 8), 'big'),
            (b'stts', range(4, 28, 4), (4,), 'big'), (b'tkhd', range(4, 40, 4), (4, 8), 'big'), (b'stsz', range(4, 28, 4), (4,), 'big')),
    'mkv': ((b'\xe7', range(0, 4), (1, 2, 4), 'big'), (b'\xa3', range(1, 6), (1, 2), 'big'), (b'\x2a\xd7\xb1', range(0, 5), (1, 4), 'big'),
            (b'\x44\x89', range(0, 9), (4, 8), 'big'), (b'\x56\xaa', range(0, 5), (1, 4), 'big'), (b'\x9b', range(0, 4), (1, 2), 'big')),
    'avi': ((b'strh', range(4, 60, 4), (4,), 'little'), (b'avih', range(4, 60, 4), (4,), 'little'), (b'00wb', (0,), (4,), 'little'),
            (b'strf', range(4, 20, 2), (2, 4), 'little')),
}

def damaged(r, b, form):
    b = bytearray(b)
    for _ in range(r.randrange(1, 4)):
        tag, places, sizes, order = r.choice(TIMES[form])
        found = [i for i in range(min(len(b), 1 << 20)) if b.startswith(tag, i)]
        if not found: continue
        at, n = r.choice(found) + len(tag) + r.choice(places), r.choice(sizes)
        value = r.choice(ODD) if r.random() < 0.6 else r.getrandbits(8 * n) >> r.randrange(8 * n)
        if at + n <= len(b): b[at:at + n] = (value & ((1 << 8 * n) - 1)).to_bytes(n, order)
    if r.random() < 0.1: del b[r.randrange(len(b)):]
    if r.random() < 0.1:
        at = r.randrange(len(b))
        b[at:at] = b[r.randrange(len(b)):][:r.randrange(5000)]
    return bytes(b) or b'x'

def fault_of(p):
    if p.returncode not in (0, 1, 4): return f'exit code {p.returncode}: {p.stderr[-300:]!r}'
    rows = [json.loads(line) for line in p.stdout.splitlines()]
    for row in rows:
        if row.get('type') != 'transcript' or row['status'] != 'ok': continue
        last = 0
        for s in row['segments']:
            if not last <= s['start'] + 0.011 or not s['start'] <= s['end'] <= row['duration'] + 0.011:
                return f'a segment from {s["start"]} to {s["end"]}, the one before begins at {last}, the sound has {row["duration"]} s'
            last = s['start']
    return None

with open(source + '/tests/data/demo.wav', 'rb') as f: whole = {'avi': avi(f.read()[44:])}
for form in ('mp4', 'mkv'):
    with open(audio + 'late.' + form, 'rb') as f: whole[form] = f.read()
probe = subprocess.run([steno, '-q', '-m', model, '-f', 'txt', audio + 'late.mkv'], capture_output=True)
if probe.returncode: print('skipped: this build reads no film'); sys.exit(77)
findings, runs, ok, until = 0, 0, 0, time.time() + seconds
with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    for round in range(10 ** 9):
        if round >= 25 and time.time() >= until: break
        r = random.Random(seed * 1000003 + round)
        form = r.choice(sorted(whole))
        data = damaged(r, whole[form], form)
        with open('a.' + form, 'wb') as f: f.write(data)
        more = r.choice(([], [], ['--offset-ms', '1000'], ['--clip-timestamps', '0.5,4'], ['--duration-ms', '3000']))
        pipe = r.random() < 0.3
        args = [steno, '-q', '-m', model, '-l', 'en', '--greedy', '-f', 'jsonl', *more, '-' if pipe else 'a.' + form]
        runs += 1
        try:
            p = subprocess.run(args, input=data if pipe else b'', capture_output=True, timeout=120)
            why = fault_of(p)
            ok += p.returncode == 0
        except (subprocess.TimeoutExpired, ValueError, KeyError) as e:
            why = repr(e)
        if why:
            findings += 1
            print(f'FOUND: seed {seed}, round {round}, a.{form} {" ".join(more)}{" from a pipe" if pipe else ""}: {why}')
print(f'{runs} runs, {ok} with a text, {findings} findings')
sys.exit(findings > 0 or not ok)
END
