# steno tests: the shared library through ctypes. SPDX-License-Identifier: MIT
#
# test_abi.py LIBRARY MODEL WAV TEXT   opens the model, transcribes the recording and compares its text.
import array
import ctypes as c
import struct
import sys


class Error(c.Structure):
    _fields_ = [("status", c.c_int32), ("text", c.c_char * 1020)]


class Segment(c.Structure):  # as much of it as this program knows
    _fields_ = [("size", c.c_uint32), ("id", c.c_int32), ("n_tokens", c.c_int32), ("seek_frames", c.c_int64),
                ("t0_ms", c.c_int64), ("t1_ms", c.c_int64), ("text", c.c_char_p)]


def samples(path):
    with open(path, "rb") as f:
        data = f.read()
    assert data[:4] == b"RIFF" and data[36:40] == b"data"
    n, = struct.unpack_from("<I", data, 40)
    pcm = struct.unpack_from("<%dh" % (n // 2), data, 44)
    return array.array("f", [x / 32768 for x in pcm])


def main(library, model_path, wav, text):
    lib = c.CDLL(library)
    lib.steno_version.restype = lib.steno_text.restype = lib.steno_last_error.restype = c.c_char_p
    assert lib.steno_version().count(b".") == 2, lib.steno_version()
    model, session, e = c.c_void_p(), c.c_void_p(), Error()
    assert lib.steno_model_open(c.byref(model), b"no/such/model", None, c.byref(e)) == e.status < 0 and b"no/such/model" in e.text
    assert lib.steno_model_open(c.byref(model), model_path.encode(), None, c.byref(e)) == 0, e.text
    assert lib.steno_session_open(c.byref(session), model, None, None, c.byref(e)) == 0, e.text
    pcm = samples(wav)
    at = c.cast(pcm.buffer_info()[0], c.c_void_p)
    assert lib.steno_transcribe(session, at, c.c_int64(len(pcm)), None) == 0, lib.steno_last_error(session)
    assert lib.steno_text(session).decode() == text, lib.steno_text(session)
    n, whole = lib.steno_segment_count(session), b""
    for i in range(n):
        seg = Segment(size=c.sizeof(Segment))
        assert lib.steno_segment_get(session, i, c.byref(seg)) == 0
        assert seg.id == i and seg.size == c.sizeof(Segment) and 0 <= seg.t0_ms <= seg.t1_ms <= len(pcm) // 16 + 30000
        whole += seg.text
    assert whole.decode() == text, whole
    lib.steno_session_close(session)
    lib.steno_model_close(model)


main(*sys.argv[1:])
