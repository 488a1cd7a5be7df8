# steno: word times of a forced aligner over HTTP. SPDX-License-Identifier: MIT
#
# The aligner has random weights: its times mean nothing, but they are those of the command line.
import json
import os
import subprocess
import threading
from serving import SOURCE, SPOKEN, STENO, Server, form, program, run, until

ALIGNER = os.path.join(SOURCE, "tests/data/qwen3_aligner")
QWEN = ("-m", os.path.join(SOURCE, "tests/data/qwen3_asr"))
PHRASES = os.path.join(SOURCE, "models/parakeet-digits/phrases.wav")
WORDS = {"response_format": "verbose_json", "timestamp_granularities[]": ("word", "segment")}


def words(s, file=SPOKEN, **fields):
    status, _, body = s.transcribe(file, **{**WORDS, **fields})
    assert status == 200, body
    return json.loads(body)


def own_words(file, *args, model=("--demo",)):
    segments = json.loads(program(file, "-f", "json", "--align-model", ALIGNER, *args, model=model))["segments"]
    return [(w["word"].strip(), w["start"], w["end"]) for s in segments for w in s.get("words", ())]


def times(answer):
    return [(w["word"], w["start"], w["end"]) for w in answer["words"]]


def test_words_are_those_of_the_program():
    with Server("--align-model", ALIGNER) as s:
        assert times(words(s)) == own_words(SPOKEN), words(s)
        assert times(words(s, language="en")) == own_words(SPOKEN, "-l", "en")
        plain = json.loads(s.transcribe(SPOKEN, response_format="verbose_json")[2])
        own = json.loads(program(SPOKEN, "-f", "verbose_json"))
        assert plain["segments"] == own["segments"], "requests without words do not use the aligner"
        status, _, body = s.request("POST", "/v1/listen", open(SPOKEN, "rb").read(), {"Content-Type": "audio/wav"})
        found = json.loads(body)["results"]["channels"][0]["alternatives"][0]["words"]
        assert status == 200 and [w["start"] for w in found] == [w[1] for w in own_words(SPOKEN)], body


def test_models_without_word_times_have_them():
    with Server("--align-model", ALIGNER, model=QWEN) as s:
        expected = own_words(PHRASES, model=QWEN)
        assert expected and times(words(s, PHRASES)) == expected
        status, _, body = s.transcribe(PHRASES, response_format="verbose_json", word_timestamps="true")
        assert status == 200 and json.loads(body)["segments"], body
        status, _, body = s.transcribe(PHRASES, response_format="srt", max_len="5")
        assert status == 200 and body.count(b"-->") > 1, body
    with Server(model=QWEN) as s:
        status, _, body = s.transcribe(PHRASES, **WORDS)
        assert status == 400 and json.loads(body)["error"]["param"] == "timestamp_granularities", body


def test_languages_and_translations():
    with Server("--align-model", ALIGNER) as s:
        status, _, body = s.transcribe(SPOKEN, language="nl", **WORDS)
        error = json.loads(body)["error"]
        assert (status, error["param"]) == (400, "language") and "aligner" in error["message"], body
        assert s.transcribe(SPOKEN, language="nl")[0] == 200
        own = json.loads(program(SPOKEN, "-f", "json", "--task", "translate", "--word-timestamps", "-l", "nl"))["segments"]
        found = times(words(s, task="translate", language="nl"))
        assert found == [(w["word"].strip(), w["start"], w["end"]) for g in own for w in g["words"]], found


def test_many_together_equal_one():
    with Server("--align-model", ALIGNER, "--parallel", "4") as s:
        alone, answers = words(s), []
        threads = [threading.Thread(target=lambda: answers.append(words(s))) for _ in range(12)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        assert len(answers) == 12 and all(a == alone for a in answers)


def test_clients_that_leave_free_their_place():
    with Server("--align-model", ALIGNER, "--parallel", "2") as s:
        for _ in range(8):
            body, kind = form(WORDS, SPOKEN)
            head = f"POST /v1/audio/transcriptions HTTP/1.1\r\nHost: localhost\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n\r\n"
            s.sent(head.encode(), body).close()
        until(lambda: s.metric("steno_requests_running") == 0 and s.metric("steno_requests_waiting") == 0)
        assert times(words(s)) == own_words(SPOKEN)


def test_models_share_the_aligner_and_are_closed():
    with Server("--align-model", ALIGNER, "--idle-unload", "0.3", model=("-m", QWEN[1], "-m", os.path.dirname(PHRASES))) as s:
        for _ in range(2):
            assert words(s, PHRASES, model="qwen3_asr")["words"] and words(s, PHRASES, model="parakeet-digits")["words"]
            until(lambda: s.metric("steno_models_loaded") == 0)


def test_wrong_options():
    def refused(*args):
        return subprocess.run([STENO, "serve", "--demo", "--port", "0", *args], stderr=subprocess.PIPE, text=True, timeout=60)
    r = refused("--align-model", ALIGNER, "--word-timestamps")
    assert r.returncode == 2 and "--word-timestamps has no effect with --align-model" in r.stderr, r.stderr
    r = refused("--align-model", ALIGNER, "-l", "nl")
    assert r.returncode == 2 and "zh, en, yue" in r.stderr, r.stderr
    r = refused("--align-model", QWEN[1])
    assert r.returncode == 2 and "--align-model" in r.stderr, r.stderr


run(globals())
