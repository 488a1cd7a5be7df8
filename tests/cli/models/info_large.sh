# steno: `info` of large files reads their heads, and no weights. SPDX-License-Identifier: MIT
. "$(dirname "$0")/../lib.sh"

type -P python3 >/dev/null || { echo "skipped: python3 is missing"; exit 77; }

# Files of about a gigabyte with holes in place of weights. The system counts the bytes that a process reads (rchar), and the pages that it
# touches by their number in memory.
cat >info.py <<'END'
import json, os, struct, subprocess, sys

steno, source = sys.argv[1:3]
MOST = 32 << 20 # bytes

def product(dims):
    n = 1
    for d in dims: n *= d
    return n

def safetensors(folder): # tests/data/lm/mistral with wider layers
    old, new = {16: 'hidden', 24: 'inner', 8: 'kv'}, {'hidden': 2048, 'inner': 20480, 'kv': 1024}
    os.mkdir(folder)
    with open(source + '/tests/data/lm/mistral/config.json') as f: config = json.load(f)
    config.update(hidden_size=2048, intermediate_size=20480, num_attention_heads=8, num_key_value_heads=4, head_dim=256)
    with open(folder + '/config.json', 'w') as f: json.dump(config, f)
    with open(source + '/tests/data/lm/mistral/model.safetensors', 'rb') as f:
        head = json.loads(f.read(struct.unpack('<Q', f.read(8))[0]))
    at = 0
    for name, tensor in head.items():
        if name == '__metadata__': continue
        tensor['shape'] = [new[old[d]] if d in old else d for d in tensor['shape']]
        size = 4 * product(tensor['shape'])
        tensor['data_offsets'] = [at, at + size]
        at += size
    text = json.dumps(head).encode()
    with open(folder + '/model.safetensors', 'wb') as f:
        f.write(struct.pack('<Q', len(text)) + text)
        f.truncate(f.tell() + at)
    return folder, folder + '/model.safetensors'

def whisper(path): # whisper-digits with a wider state
    with open(source + '/models/whisper-digits/whisper-digits.bin', 'rb') as f: b = f.read()
    sizes = list(struct.unpack_from('<11i', b, 4))
    state, wide = sizes[2], 3072
    to = {state: wide, 4 * state: 4 * wide}
    heads = wide // 64
    sizes[2:4], sizes[6:8] = [wide, heads], [wide, heads]
    m, k = struct.unpack_from('<2i', b, 48)
    at = 56 + 4 * m * k
    for _ in range(struct.unpack_from('<i', b, at)[0]): at += 4 + struct.unpack_from('<I', b, at + 4)[0]
    at += 4
    with open(path, 'wb') as f:
        f.write(b[:4] + struct.pack('<11i', *sizes) + b[48:at])
        while at < len(b):
            n, size, kind = struct.unpack_from('<3i', b, at)
            dims = struct.unpack_from(f'<{n}i', b, at + 12)
            begin = at + 12 + 4 * n
            name = b[begin:begin + size]
            at = begin + size + product(dims) * (2 if kind == 1 else 4)
            dims = [to.get(d, d) for d in dims]
            f.write(struct.pack(f'<{3 + n}i', n, size, kind, *dims) + name)
            f.truncate(f.tell() + product(dims) * (2 if kind == 1 else 4))
            f.seek(0, 2)
    return path, path

bad = 0
small = None
digits = source + '/models/whisper-digits/whisper-digits.bin'
for what, (model, file) in (('a small one', (digits, digits)), ('safetensors', safetensors('wide')), ('whisper.cpp', whisper('wide.bin'))):
    p = subprocess.Popen([steno, 'info', model], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    out, err = p.stdout.read(), p.stderr.read()
    os.waitid(os.P_PID, p.pid, os.WEXITED | os.WNOWAIT) # it has ended, and its counters are there
    try:
        with open(f'/proc/{p.pid}/io') as f: read = int(f.readline().split()[1])
    except OSError:
        read = 0
    usage = os.wait4(p.pid, 0)
    code, resident = os.waitstatus_to_exitcode(usage[1]), usage[2].ru_maxrss << 10
    size = os.stat(file).st_size
    small = small or resident
    print(f'{what}: {size >> 20} MB, {read >> 10} KB read, {resident >> 20} MB resident')
    if code or b'weights' not in out: print(f'FAILED: exit code {code}: {err[-300:]!r}'); bad = 1
    if what != 'a small one' and size < 500 << 20: print('FAILED: the file is not large'); bad = 1
    if read > MOST or resident > small + MOST: print('FAILED: weights are read'); bad = 1
sys.exit(bad)
END
python3 info.py "$STENO" "$SRC" >log 2>&1 || bad "info reads no weights" "$(cat log)"
cat log
finish
