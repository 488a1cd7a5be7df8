# steno: realtime transcription in OpenAI's protocol. SPDX-License-Identifier: MIT
#
# The client of websocket_client.py against `steno serve --demo`. Each session keeps the promises of serve/live/realtime.h: deltas joined
# are the transcript, and each committed item ends once, in order.
import array
import base64
import json
import random
import signal
from serving import SPOKEN, Server, key_file, pcm, program, run, until
from websocket_client import Closed, Refused, WebSocket

PREFIX = "conversation.item.input_audio_transcription."
RATES = (8000, 16000, 24000, 48000)


def samples():
    return array.array("h", pcm())


def at_rate(rate):
    """The spoken file at another rate, by lines between samples: not good, but good enough for its words."""
    s, step = samples(), 16000 / rate
    out = array.array("h")
    for i in range(int(len(s) / step) - 1):
        x = i * step
        k = int(x)
        out.append(int(s[k] + (s[min(k + 1, len(s) - 1)] - s[k]) * (x - k)))
    return out


def ulaw(x):
    sign, x = (0x80, -x) if x < 0 else (0, x)
    x = min(x, 32635) + 132
    exponent = x.bit_length() - 8
    return ~(sign | exponent << 4 | x >> (exponent + 3) & 15) & 255


def alaw(x):
    sign, x = (0, ~x) if x < 0 else (0x80, x)
    x = min(x, 32767) >> 3
    exponent = max(0, x.bit_length() - 5)
    return (sign | exponent << 4 | x >> (exponent if exponent else 1) & 15) ^ 0x55


class Session:
    def __init__(self, server, path="/v1/realtime?intent=transcription", **kw):
        self.ws = WebSocket("127.0.0.1", server.port, path, **kw)
        self.events, self.at = [], 0
        self.created = self.next()

    def next(self, timeout=60):
        if self.at == len(self.events):
            self.events.append(self.ws.receive_json(timeout))
        self.at += 1
        return self.events[self.at - 1]

    def until(self, *types, timeout=60):
        """The next event of one of these types."""
        while True:
            e = self.next(timeout)
            if e["type"] in types:
                return e
            assert e["type"] != "error", e

    def send(self, type, **fields):
        self.ws.send_json(type=type, **fields)

    def update(self, event_id=None, **session):
        self.send("session.update", session={"type": "transcription", **session})
        return self.until("session.updated", "transcription_session.updated", "error")

    def configure(self, **input):
        return self.update(audio={"input": input})

    def append(self, data):
        self.send("input_audio_buffer.append", audio=base64.b64encode(data).decode())

    def append_all(self, data, n=4800):
        for i in range(0, len(data), n):
            self.append(data[i:i + n])

    def commit(self):
        self.send("input_audio_buffer.commit")
        item = self.until("input_audio_buffer.committed")["item_id"]
        done = self.until(PREFIX + "completed", PREFIX + "failed")
        assert done["item_id"] == item
        return done["transcript"]

    def check(self):
        """What is promised to clients, for all events so far."""
        texts, committed, ended, ids = {}, [], [], set()
        for e in self.events:
            assert e["event_id"] not in ids
            ids.add(e["event_id"])
            item = e.get("item_id")
            if e["type"] == "input_audio_buffer.committed":
                assert e["previous_item_id"] == (committed[-1] if committed else None), e
                committed.append(item)
            elif e["type"] == PREFIX + "delta":
                assert item not in ended and e["delta"], e
                texts[item] = texts.get(item, "") + e["delta"]
            elif e["type"] in (PREFIX + "completed", PREFIX + "failed"):
                ended.append(item)
                assert committed[:len(ended)] == ended, (committed, ended)
                assert e["type"].endswith("failed") or e["transcript"] == texts.get(item, ""), (e, texts)
        return committed, ended

    def close(self):
        code, _ = self.ws.close()
        self.check()
        return code


def s16(values):
    return values.tobytes()


def words(text):
    return text.lower().replace(",", "").replace(".", "").split()


def spoken():
    return words(json.loads(program(SPOKEN, "-f", "json"))["text"])


def is_like(text, wanted):
    """At least three quarters of the words, in order of the set."""
    found = words(text)
    return len(set(found) & set(wanted)) >= 0.75 * len(set(wanted))


def test_handshake():
    with Server() as s:
        for path in ("/v1/realtime", "/v1/realtime?intent=transcription", "/v1/realtime?intent=transcription&model=whisper-1"):
            r = Session(s, path)
            assert r.created["type"] == "session.created"
            session = r.created["session"]
            assert session["object"] == "realtime.transcription_session" and session["audio"]["input"]["format"]["rate"] == 24000
            assert r.ws.protocol is None and r.close() == 1000
        r = Session(s, protocols=["realtime", "openai-insecure-api-key.x"])
        assert r.ws.protocol == "realtime"
        r.close()
        for path, status, code in (("/v1/realtime?intent=conversation", 400, "invalid_value"), ("/v1/realtime?model=x", 404, "model_not_found")):
            try:
                Session(s, path)
                assert False, path
            except Refused as e:
                assert (e.status, e.code()) == (status, code), e
        status, _, body = s.request("GET", "/v1/realtime")
        assert status == 426, body


def test_manual():
    wanted = spoken()
    with Server() as s:
        r = Session(s)
        assert r.configure(turn_detection=None)["session"]["audio"]["input"]["turn_detection"] is None
        texts = []
        for rate in RATES:
            assert r.configure(format={"type": "audio/pcm", "rate": rate})["type"] == "session.updated"
            r.append_all(s16(at_rate(rate)))
            texts.append(r.commit())
        for kind, law in (("audio/pcmu", ulaw), ("audio/pcma", alaw)):
            assert r.configure(format={"type": kind})["type"] == "session.updated"
            r.append_all(bytes(map(law, at_rate(8000))), 800)
            texts.append(r.commit())
        assert all(is_like(t, wanted) for t in texts), (texts, wanted)
        assert words(texts[1]) == wanted, (texts[1], wanted)
        assert len(r.check()[1]) == 6 and r.close() == 1000


def test_frames_do_not_matter():
    data, texts = s16(samples()), set()
    with Server() as s:
        for seed in range(4):
            rng, r = random.Random(seed), Session(s)
            r.configure(turn_detection=None, format={"type": "audio/pcm", "rate": 16000})
            at = 0
            while at < len(data):
                n = len(data) if seed == 0 else rng.choice((1, 3, 333, 4801, 20000))
                if rng.random() < 0.5:
                    r.append(data[at:at + n])
                else:
                    r.ws.send_bytes(data[at:at + n])
                at += n
            texts.add(r.commit())
            r.close()
    assert len(texts) == 1, texts


def test_turns():
    """Voice activity makes the turns; without a model for it, the client's commit does."""
    with Server() as s:
        r = Session(s)
        assert r.created["session"]["audio"]["input"]["turn_detection"] is None  # the demo has no such model
        updated = r.configure(format={"type": "audio/pcm", "rate": 16000}, turn_detection={"type": "server_vad"})
        assert updated["type"] == "session.updated" and updated["session"]["audio"]["input"]["turn_detection"] is None, updated
        silence = bytes(32000 * 2)
        r.append_all(s16(samples()) + silence)
        r.send("input_audio_buffer.commit")
        done = r.until(PREFIX + "completed")
        assert is_like(done["transcript"], spoken()), done
        assert done["usage"]["type"] == "duration" and done["usage"]["seconds"] >= 3, done
        kinds = [e["type"] for e in r.events]
        for a, b in (("input_audio_buffer.speech_started", "input_audio_buffer.speech_stopped"),
                     ("input_audio_buffer.speech_stopped", "input_audio_buffer.committed"),
                     ("input_audio_buffer.committed", "conversation.item.added"), ("conversation.item.added", PREFIX + "completed")):
            assert kinds.index(a) < kinds.index(b), kinds
        r.close()


def test_mistakes():
    with Server() as s:
        r = Session(s)

        def error(text, code, param=None, event_id=None):
            r.ws.send(text)
            e = r.next()
            assert e["type"] == "error" and (e["error"]["code"], e["error"]["param"], e["error"]["event_id"]) == (code, param, event_id), e
        error("{", "invalid_json")
        error("[]", "invalid_event")
        error('{"type":"x","event_id":"a"}', "invalid_event", "type", "a")
        error('{"type":"response.create"}', "invalid_value", "type")
        error('{"type":"input_audio_buffer.append"}', "missing_required_parameter", "audio")
        error('{"type":"input_audio_buffer.append","audio":"A"}', "invalid_value", "audio")
        error('{"type":"input_audio_buffer.commit"}', "input_audio_buffer_commit_empty")
        error('{"type":"session.update","session":{"model":"nothing"}}', "invalid_value", "session.audio.input.transcription.model")
        error('{"type":"session.update","session":{"input_audio_transcription":{"language":"qq"}}}', "invalid_value",
              "session.audio.input.transcription.language")
        error('{"type":"session.update","session":{"input_audio_transcription":{"languages":["en","qq"]}}}', "invalid_value",
              "session.audio.input.transcription.languages")
        error('{"type":"session.update","session":{"input_audio_transcription":{"language":"yue"}}}', "invalid_value",
              "session.audio.input.transcription.language")  # the model does not have it
        error('{"type":"session.update","session":{"include":["item.input_audio_transcription.noise"]}}', "invalid_value", "session.include")
        r.send("input_audio_buffer.clear")
        assert r.next()["type"] == "input_audio_buffer.cleared"
        r.send("session.update", session={"type": "realtime"})
        assert r.next()["type"] == "error"
        try:
            r.next()
            assert False
        except Closed as e:
            assert e.code == 4000, e


def test_beta():
    with Server() as s:
        r = Session(s, headers={"OpenAI-Beta": "realtime=v1"})
        assert r.created["type"] == "transcription_session.created" and r.created["session"]["input_audio_format"] == "pcm16"
        r.send("transcription_session.update", session={"turn_detection": None})
        assert r.until("transcription_session.updated")["session"]["turn_detection"] is None
        r.append_all(s16(at_rate(24000)))
        assert is_like(r.commit(), spoken())
        assert "conversation.item.created" in [e["type"] for e in r.events]
        r.close()


def test_secrets():
    with Server() as s:
        status, _, body = s.request("POST", "/v1/realtime/client_secrets", json.dumps(
            {"expires_after": {"anchor": "created_at", "seconds": 60}, "session": {"type": "transcription", "audio": {"input": {
                "turn_detection": None}}}}), {"Content-Type": "application/json"})
        secret = json.loads(body)
        assert status == 200 and secret["value"].startswith("ek_") and secret["expires_at"], body
        r = Session(s, protocols=["realtime", "openai-insecure-api-key." + secret["value"]])
        assert r.created["session"]["audio"]["input"]["turn_detection"] is None
        r.close()
        status, _, body = s.request("POST", "/v1/realtime/transcription_sessions", "{}", {"Content-Type": "application/json"})
        assert status == 200 and json.loads(body)["client_secret"]["value"], body
        status, _, body = s.request("POST", "/v1/realtime/client_secrets", '{"expires_after":{"seconds":1}}')
        assert status == 400 and json.loads(body)["error"]["param"] == "expires_after.seconds", body
        status, _, body = s.request("POST", "/v1/realtime/client_secrets", "x" * 70000)
        assert status == 413, body


def refused(s, path="/v1/realtime", **kw):
    try:
        Session(s, path, **kw)
    except Refused as e:
        return e.status
    return None


def test_keys():
    """A secret opens sessions, and nothing else."""
    with key_file("one-good-key") as keys, Server("--api-key-file", keys) as s:
        path, key = "/v1/realtime/client_secrets", {"Authorization": "Bearer one-good-key"}
        assert s.request("POST", path, "{}")[0] == 401
        status, _, body = s.request("POST", path, "{}", key)
        assert status == 200, body
        secret = json.loads(body)["value"]
        for kw in ({"headers": key}, {"headers": {"Authorization": "Bearer " + secret}},
                   {"protocols": ["realtime", "openai-insecure-api-key.one-good-key"]},
                   {"protocols": ["realtime", "openai-insecure-api-key." + secret]}):
            r = Session(s, **kw)
            assert r.ws.protocol == ("realtime" if "protocols" in kw else None)
            r.close()
        other = secret[:-1] + ("0" if secret[-1] != "0" else "1")
        assert refused(s) == refused(s, headers={"Authorization": "Bearer " + other}) == 401
        assert refused(s, protocols=["realtime", "openai-insecure-api-key." + other]) == 401
        assert refused(s, headers={**key, "Origin": "https://example.com"}) == 403
        assert s.request("POST", path, "{}", {"Authorization": "Bearer " + secret})[0] == 401
        assert s.request("GET", "/v1/models", headers={"Authorization": "Bearer " + secret})[0] == 401


def test_drain():
    with Server() as s:
        r, idle = Session(s), Session(s)
        r.configure(turn_detection=None)
        r.append_all(s16(at_rate(24000)))
        r.until(PREFIX + "delta")  # the rest may still be on its way
        s.process.send_signal(signal.SIGTERM)
        assert r.until(PREFIX + "completed")["transcript"]
        for session in (r, idle):
            try:
                while True:
                    session.next()
            except Closed as e:
                assert e.code == 1001, e
        assert s.process.wait(60) == 0


def test_hang_up():
    """Connections that break leave nothing behind."""
    with Server("--live", "2") as s:
        before = s.descriptors()
        for i in range(8):
            r = Session(s)
            r.append_all(s16(samples()))
            r.ws.abort()
        until(lambda: s.descriptors() <= before)
        r = Session(s)
        r.configure(turn_detection=None)
        r.append_all(s16(at_rate(24000)))
        assert is_like(r.commit(), spoken())
        r.close()


run(globals())
