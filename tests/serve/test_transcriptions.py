# steno: transcriptions over HTTP. SPDX-License-Identifier: MIT
#
# Every format is the bytes that the program prints for the same file; errors have the shape of OpenAI's API.
import json
import threading
from serving import SPOKEN, Server, events, form, program, run, until, wav


def test_formats():
    with Server() as s:
        for format, own, kind in (("text", "txt", "text/plain; charset=utf-8"), ("srt", "srt", "application/x-subrip"),
                                  ("vtt", "vtt", "text/vtt; charset=utf-8")):
            status, headers, body = s.transcribe(SPOKEN, response_format=format)
            assert (status, headers["Content-Type"]) == (200, kind), (status, headers["Content-Type"])
            assert body == program(SPOKEN, "-f", own), body
        said = json.loads(program(SPOKEN, "-f", "json"))["text"].strip()
        status, headers, body = s.transcribe(SPOKEN)
        answer = json.loads(body)
        assert status == 200 and headers["Content-Type"] == "application/json" and answer["text"] == said, body
        assert answer["usage"]["type"] == "duration" and isinstance(answer["usage"]["seconds"], int)
        whole = json.loads(s.transcribe(SPOKEN, response_format="verbose_json")[2])
        own = json.loads(program(SPOKEN, "-f", "verbose_json"))
        assert whole["segments"] == own["segments"] and whole["text"].strip() == said, (whole, own)
        assert "words" not in whole and whole["task"] == "transcribe"


def test_granularities():
    with Server() as s:
        def ask(*granularities):
            return json.loads(s.transcribe(SPOKEN, response_format="verbose_json", **{"timestamp_granularities[]": granularities})[2])
        assert "words" in ask("word") and "segments" not in ask("word")
        both = ask("word", "segment")
        assert both["words"] and both["segments"]
        assert all(w["word"] == w["word"].strip() and w["end"] >= w["start"] for w in both["words"]), both["words"]
        status, _, body = s.transcribe(SPOKEN, response_format="json", **{"timestamp_granularities[]": "word"})
        assert status == 400 and json.loads(body)["error"]["param"] == "timestamp_granularities", body


def test_stream():
    with Server() as s:
        whole = json.loads(s.transcribe(SPOKEN)[2])["text"]
        status, headers, body = s.transcribe(SPOKEN, stream="true")
        assert status == 200 and headers["Content-Type"].startswith("text/event-stream"), headers
        all = events(body)
        deltas = [e["delta"] for e in all[:-2]]
        assert all[-1] == "[DONE]" and all[-2]["type"] == "transcript.text.done" and all[-2]["text"] == whole, all
        assert "".join(deltas) == whole and all[-2]["usage"]["type"] == "tokens", all


def test_errors():
    with Server("--max-upload", "1", "--max-seconds", "4") as s:
        def refused(status, code, param=None, **kw):
            got, headers, body = s.transcribe(**kw)
            e = json.loads(body)["error"]
            assert (got, e["code"], e["param"]) == (status, code, param), (got, body)
            assert set(e) == {"message", "type", "param", "code"} and headers["X-Request-Id"], body
        refused(400, "missing_required_parameter", "file", file=None, prompt="x")
        refused(400, "invalid_value", "response_format", file=SPOKEN, response_format="doc")
        refused(400, "invalid_value", "temperature", file=SPOKEN, temperature="hot")
        refused(404, "model_not_found", "model", file=SPOKEN, model="whisper-9")
        refused(400, "unsupported_format", "file", file=b"this is no sound")
        refused(413, "request_too_large", "file", file=b"x" * 1200000)
        refused(400, "audio_too_long", "file", file=wav(5 * 16000))
        refused(400, "audio_too_short", "file", file=wav(800))
        status, headers, body = s.request("GET", "/v1/audio/transcriptions")
        assert status == 405 and headers["Allow"] == "POST", (status, headers)
        assert s.request("POST", "/v1/audio/transcriptions", b"x", {"Content-Type": "text/plain"})[0] == 415
        assert s.request("GET", "/v1/v1/models")[0] == 404
        assert s.transcribe(SPOKEN, model="whisper-1")[0] == 200


def test_together():
    """Answers do not depend on what else runs."""
    with Server("--parallel", "4") as s:
        alone = s.transcribe(SPOKEN, response_format="verbose_json")[2]
        answers = []
        threads = [threading.Thread(target=lambda: answers.append(s.transcribe(SPOKEN, response_format="verbose_json")[2]))
                   for _ in range(12)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        assert len(answers) == 12 and set(answers) == {alone}


def test_client_leaves():
    """A client that hangs up frees its place."""
    with Server() as s:
        body, kind = form({}, wav(600 * 16000))
        for _ in range(4):
            c = s.connect()
            c.request("POST", "/v1/audio/transcriptions", body, {"Content-Type": kind})
            c.close()
        until(lambda: s.metric("steno_requests_running") == 0 and s.metric("steno_requests_waiting") == 0)
        assert s.transcribe(SPOKEN)[0] == 200


def test_other_routes():
    """whisper.cpp's server, and whisper-asr-webservice."""
    with Server() as s:
        srt, txt = program(SPOKEN, "-f", "srt"), program(SPOKEN, "-f", "txt")
        assert s.transcribe(SPOKEN, path="/inference", response_format="srt")[2] == srt
        assert s.transcribe(SPOKEN, path="/inference", response_format="text", temperature_inc="0.2")[2] == txt
        status, _, body = s.transcribe(SPOKEN, path="/inference", diarize="true")
        assert status == 400 and json.loads(body)["error"]["param"] == "diarize", body

        def asr(path):
            body, kind = form({}, SPOKEN, name="audio_file")
            return s.request("POST", path, body, {"Content-Type": kind})
        assert asr("/asr?output=srt&language=en")[2] == srt
        assert asr("/asr?output=txt&task=transcribe&encode=true")[2] == txt
        assert asr("/asr?output=doc")[0] == 400
        found = json.loads(asr("/detect-language")[2])
        assert found["language_code"] == "en" and found["detected_language"] == "english" and found["confidence"] > 0.5, found


def test_ops():
    with Server() as s:
        for path in ("/livez", "/readyz", "/health", "/healthz", "/version"):
            assert s.request("GET", path)[0] == 200, path
        models = json.loads(s.request("GET", "/v1/models")[2])
        assert models["object"] == "list" and models["data"][0]["id"] == "demo", models
        assert json.loads(s.request("GET", "/v1/models/demo")[2])["id"] == "demo"
        assert s.request("GET", "/v1/models/none")[0] == 404
        assert b"# TYPE steno_requests_total counter" in s.request("GET", "/metrics")[2]
        assert s.request("HEAD", "/livez")[2] == b""
        log = [json.loads(line) for line in s.log if line.startswith("{")]
        assert log, s.log


run(globals())
