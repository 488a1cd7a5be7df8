# steno: every option of the verb serve. SPDX-License-Identifier: MIT
#
# A default of requests has the effect that it has on the command line: the server's answer is the program's, or both refuse it with the
# same exit code. Another option has a test, which names it.
import http.client
import json
import os
import re
import shutil
import ssl
import subprocess
import tempfile
from serving import SOURCE, SPOKEN, STENO, Server, run

# Options of the server itself: the test that has each.
SHOWN = {
    "test_align.py": "align-model", "test_attacks.py": "cors page", "test_fields.py": "strict-fields", "test_parakeet.py": "decoder-type",
    "test_overload.py": "live-max-delay", "test_turns.py": "vad no-vad", "test_wyoming.py": "wyoming", "serving.py": "demo port",
    "load_mix.py": "per-ip",
    "test_limits.py": "idle-unload memory-limit parallel queue queue-timeout timeout ingest max-upload max-seconds spool-max live "
                      "live-step live-max-turn live-audio-padding live-max-seconds connections head-timeout body-timeout "
                      "idle-timeout grace",
    "test_options.py": "any-model metrics log-text quiet tls-cert tls-key",
    "test_process.py": "live-last-pass model alias host unix prefix api-key-file no-auth allow-host trust-proxy spool",
}
ROW = re.compile(r'\{ "([a-z-]+)", ([A-Z_| ]+), "([^"]*)", ((?:"[^"]*"|[A-Z_]+)(?: (?:"[^"]*"|[A-Z_]+))*), ')
WORDS = {"WARM": "--temperature-increment-on-fallback 0.2", "COLD": "--temperature-increment-on-fallback 0",
         "WINDOWS": "--without-timestamps --temperature-increment-on-fallback 0", "VAD_ON": "--vad fsmn --vad-model %v"}


def options():
    """Names of the options in the help, without those that print it."""
    text = subprocess.run([STENO, "serve", "--help-all"], stdout=subprocess.PIPE, text=True, check=True).stdout
    found = re.findall(r"^ +(?:-[a-zA-Z], )?--(?:\[no-\])?([a-z0-9-]+)(?: |$)", text, re.M)
    return sorted(set(found) - {"help", "help-all"})


def rows():
    """Option: command lines of the rows for transcribe and models that decode token by token."""
    with open(os.path.join(SOURCE, "tests/unit/option_promises.h"), encoding="utf-8") as f:
        text = f.read()
    table = text[text.index("struct promise transcribe[]"):]
    found = {}
    for name, on, words, beside in ROW.findall(table[:table.index("};")]):
        beside = " ".join(WORDS.get(w, w.strip('"')) for w in re.findall(r'"[^"]*"|[A-Z_]+', beside))
        line = f"{words} {beside}".strip()
        if {"DECODES", "SPEECH", "TIMED", "MANY"} & set(re.findall(r"[A-Z]+", on)) and words and "%" not in line and "-f " not in line:
            found.setdefault(name, []).append(line.split())
    return found


def answer(line):
    """The segments that a server with these options answers with; an int: its exit code, it refuses them."""
    try:
        with Server("--grace", "0", *line) as s:
            status, _, body = s.transcribe(SPOKEN, response_format="verbose_json")
            return json.loads(body)["segments"] if status == 200 else body
    except AssertionError:
        r = subprocess.run([STENO, "serve", "--demo", "--port", "0", *line], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=60)
        return r.returncode


def printed(line):
    r = subprocess.run([STENO, "--demo", "-q", SPOKEN, "-f", "verbose_json", *line], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    return json.loads(r.stdout)["segments"] if r.returncode == 0 else r.returncode


def bare(segments):
    """Words are shown on request only."""
    return [{k: v for k, v in g.items() if k != "words"} for g in segments] if isinstance(segments, list) else segments


def test_every_option_has_a_test():
    """Of the server itself: in the file of the table. Others are those of transcribe, which have a row."""
    with open(os.path.join(SOURCE, "tests/unit/option_promises.h"), encoding="utf-8") as f:
        promises = f.read()
    shown = {name: file for file, names in SHOWN.items() for name in names.split()}
    assert not set(shown) - set(options()), "an option of the table is not in the help"
    for name in options():
        if name not in shown:
            assert f'{{ "{name}", ' in promises, f"--{name} has no test"
            continue
        with open(os.path.join(SOURCE, "tests/serve", shown[name]), encoding="utf-8") as f:
            assert re.search(rf'"--(no-)?{name}"|"-{name[0]}"', f.read()), f"--{name} is not in {shown[name]}"


def test_defaults_of_requests_are_options_of_the_program():
    own = set(options()) - {name for names in SHOWN.values() for name in names.split()}
    for name, lines in rows().items():
        if name not in own:
            continue
        line = [w for w in lines[0] if w != "-v"]
        words = [w for w in line if w.startswith("--")]
        if any(w[2:] not in own and w[5:] not in own for w in words):
            continue
        want, got = bare(printed(line)), bare(answer(line))
        assert got == want, (name, line, got, want)


def test_options_of_the_server_itself():
    with Server("--any-model", "--log-text", "--no-metrics") as s:
        status, _, body = s.transcribe(SPOKEN, model="another")
        assert status == 200, body
        assert s.request("GET", "/metrics")[0] == 404
        text = json.loads(body)["text"]
    assert any(text in line for line in s.log), s.log
    with Server("-q") as s:
        assert not any("note:" in line for line in s.log), s.log


def test_tls():
    if not shutil.which("openssl"):
        return
    with tempfile.TemporaryDirectory() as folder:
        cert, key = (os.path.join(folder, name) for name in ("cert.pem", "key.pem"))
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost", "-keyout", key,
                        "-out", cert], stderr=subprocess.DEVNULL, check=True)
        with Server("--tls-cert", cert, "--tls-key", key) as s:
            c = http.client.HTTPSConnection("localhost", s.port, context=ssl.create_default_context(cafile=cert), timeout=30)
            c.request("GET", "/livez")
            assert c.getresponse().status == 200


run(globals())
