# steno: the limits of `steno serve` from the command line: below, at and beyond each. SPDX-License-Identifier: MIT
import json
import os
import re
import subprocess
from concurrent.futures import ThreadPoolExecutor

from serving import SOURCE, SPOKEN, STENO, Server, program, run, until, wav
from wyoming_client import Peer, port_of

# option: the least value, one below it, the greatest one, one beyond it (None: no such value)
RANGES = {
    "--parallel": ("1", "0", "128", "129"),
    "--queue": ("1", "0", "100000", "100001"),
    "--ingest": ("1", "0", "64", "65"),
    "--max-upload": ("1", "0", "1000000", "1000001"),
    "--max-seconds": ("1", "0.99", "1000000", "1000001"),
    "--spool-max": ("10", "9", "1000000000", "1000000001"),
    "--queue-timeout": ("1", "0.99", "1000000", "1000001"),
    "--timeout": (None, "-1", "10000000", "10000001"),
    "--live": ("0", "-1", "1000", "1001"),
    "--live-step": ("200", "199", "10000", "10001"),
    "--live-max-turn": ("2000", "1999", "30000", "30001"),
    "--live-audio-padding": ("500", "499", "30000", "30001"),
    "--live-max-seconds": ("0", "-1", "10000000", "10000001"),
    "--live-max-delay": ("0", "-1", "1000", "1001"),
    "--connections": ("1", "0", "100000", "100001"),
    "--per-ip": ("1", "0", "100000", "100001"),
    "--head-timeout": (None, "0.09", "1000000", "1000001"),
    "--body-timeout": (None, "0.09", "1000000", "1000001"),
    "--idle-timeout": ("0.1", "0.09", "1000000", "1000001"),
    "--grace": ("0", "-1", "1000000", "1000001"),
    "--idle-unload": ("0", "-1", "1000000000", "1000000001"),
    "--memory-limit": ("0", "-1", "1000000000", "1000000001"),
    "--port": (None, "-1", None, "65536"),
    "--wyoming": ("-1", "-2", None, "65536"),
}
TEXT = program("-l", "en", "-f", "txt", SPOKEN)


def check_text(s, **fields):
    status, _, body = s.transcribe(SPOKEN, language="en", response_format="text", **fields)
    assert (status, body) == (200, TEXT), (status, body)


def listen(s):
    """What a client of /v1/listen receives until it is closed."""
    got = b""
    with s.sent(b"GET /v1/listen?encoding=linear16&sample_rate=16000 HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\n"
                b"Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n") as c:
        while b"too_many_sessions" not in got and (more := c.recv(65536)):
            got += more
    return got


def error(answer):
    status, headers, body = answer
    e = json.loads(body)["error"]
    return status, e["code"], e["message"]


def test_every_option_with_a_number_is_in_the_table():
    text = subprocess.run([STENO, "serve", "--help-all"], stdout=subprocess.PIPE, text=True, check=True).stdout
    before_defaults = text[text.index("\nAddress"):text.index("\nDefaults of requests")]
    listed = set(re.findall(r"^ .*?(--[a-z-]+) (?:N|S|MS|MB|PORT)\b", before_defaults, re.M)) | {"--idle-unload", "--memory-limit"}
    assert listed == set(RANGES), listed ^ set(RANGES)


def test_values_out_of_range_are_refused():
    for option, (_, below, _, beyond) in RANGES.items():
        for value in (below, beyond, "x", ""):
            r = subprocess.run([STENO, "serve", "--demo", option, value], stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True,
                               timeout=60)
            assert r.returncode == 2 and option in r.stderr, (option, value, r.returncode, r.stderr)


def test_the_least_values_serve():
    without = ("--max-seconds", "--live")
    with Server(*(word for option, (least, *_) in RANGES.items() if least and option not in without for word in (option, least))) as s:
        check_text(s)
    with Server("--live", "0", "--connections", "1") as s:
        until(lambda: b"\x03\xf5too_many_sessions" in listen(s))  # --live 0; --connections 1 refuses it while another one is open
        until(lambda: s.request("GET", "/livez")[0] == 200)  # --connections 1: the refused one is closed


def test_the_greatest_values_serve():
    with Server(*(word for option, (_, _, most, _) in RANGES.items() if most for word in (option, most))) as s:
        check_text(s)
        check_text(s, beam_size=5)
        assert any("51 windows decode together, not 128" in line for line in s.log), s.log
        status, code, message = error(s.transcribe(SPOKEN, beam_size=6))
        assert (status, code) == (400, "invalid_value") and "beam_size is 6" in message and "at most 5" in message, message


def test_beams_and_candidates_up_to_8():
    with Server() as s:
        assert s.transcribe(SPOKEN, beam_size=8)[0] == 200 and s.transcribe(SPOKEN, temperature=0.5, best_of=8)[0] == 200
        for field in ("beam_size", "best_of"):
            assert error(s.transcribe(SPOKEN, **{field: 9}))[:2] == (400, "invalid_value")


def test_length_of_audio():
    with Server("--max-seconds", "1") as s:
        assert s.transcribe(wav(16000))[0] == 200
        for samples in (16001, 160000):
            status, code, message = error(s.transcribe(wav(samples)))
            assert (status, code) == (400, "audio_too_long") and "1 s" in message, message


def test_size_of_a_file():
    with Server("--max-upload", "1") as s:
        assert s.transcribe(wav(500 * 1000 - 22))[0] == 200  # 1,000,000 bytes
        assert error(s.transcribe(wav(500 * 1000 - 21)))[:2] == (413, "request_too_large")
        for n in (5000000, 10**15):
            with s.sent(b"POST /v1/audio/transcriptions HTTP/1.1\r\nHost: localhost\r\nContent-Type: multipart/form-data; boundary=b\r\n"
                        b"Content-Length: %d\r\n\r\n" % n) as c:
                assert c.recv(4096).startswith(b"HTTP/1.1 413 ")
        check_text(s)


def test_time_of_a_request():
    with Server("--timeout", "0.01") as s:
        status, headers, body = s.transcribe(wav(16000 * 600))
        assert status == 504 and headers["x-should-retry"] == "false", (status, body)


def test_time_in_the_queue():
    """Of requests that come together, those are refused whose turn has not come after a second."""
    lm = os.path.join(SOURCE, "tests/data/lm/qwen3-q4_0.gguf")
    asked = json.dumps({"messages": [{"role": "user", "content": "one"}], "max_tokens": 3000, "ignore_eos": True, "temperature": 1})
    with Server("--queue-timeout", "1", "--parallel", "1", model=("-m", lm)) as s, ThreadPoolExecutor(24) as pool:
        got = list(pool.map(lambda _: s.request("POST", "/v1/chat/completions", asked), range(24)))
        late = [g for g in got if g[0] != 200]
        assert 0 < len(late) < 24, [g[0] for g in got]
        for status, headers, body in late:
            assert status == 429 and json.loads(body)["error"]["code"] == "queue_full" and int(headers["Retry-After"]) >= 1, (status, body)


def test_an_utterance_that_is_refused_keeps_no_file():
    """Its connection stays open for a while, because the client still sends."""
    with Server("--wyoming", "0", "--max-upload", "1") as s:
        p = Peer(port_of(s))
        p.start()
        p.chunks(bytes(900000), 50000)
        until(lambda: s.metric("steno_spool_bytes") > 800000)
        p.chunks(bytes(200000), 200000)
        kind, data = p.receive()
        assert kind == "error" and data["code"] == "audio_too_long", data
        assert s.metric("steno_spool_bytes") == 0 and 'steno_connections{kind="wyoming"} 1\n' in s.request("GET", "/metrics")[2].decode()


def test_a_model_closes_when_it_is_idle():
    with Server("--idle-unload", "0.1") as s:
        for _ in range(2):
            until(lambda: s.metric("steno_models_loaded") == 0)
            check_text(s)


def test_a_model_beyond_the_memory_limit():
    r = subprocess.run([STENO, "serve", "--demo", "--port", "0", "--memory-limit", "1"], stderr=subprocess.PIPE, text=True, timeout=60)
    assert r.returncode == 2 and re.search(r"takes \d+ MB, and the limit of all models is 1 MB", r.stderr), (r.returncode, r.stderr)


if __name__ == "__main__":
    run(globals())
