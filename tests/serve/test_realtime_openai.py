# steno: realtime transcription with the `openai` package. SPDX-License-Identifier: MIT
#
# Needs openai and websockets: in this Python, or in the one that STENO_CLIENTS_PYTHON names.
import asyncio
import base64
import json

from serving import SPOKEN, Server, need, pcm, program, run

openai = need("openai")
need("websockets")  # openai's realtime connections use it
DONE = ("conversation.item.input_audio_transcription.completed", "conversation.item.input_audio_transcription.failed", "error")
QUERY = {"intent": "transcription"}


def spoken():
    return json.loads(program(SPOKEN, "-f", "json"))["text"].strip()


def session(**input):
    return {"type": "transcription", "audio": {"input": {"format": {"type": "audio/pcm", "rate": 16000}, **input}}}


def pieces():
    data = pcm()
    return [base64.b64encode(data[i:i + 3201]).decode() for i in range(0, len(data), 3201)]


def check(events):
    joined = "".join(e.delta for e in events if e.type.endswith(".delta"))
    assert events[-1].type == DONE[0] and events[-1].transcript == joined == spoken(), [e.to_dict() for e in events]
    assert events[-1].usage.type == "duration" and events[-1].usage.seconds >= 3
    assert [e.type for e in events].count("session.created") == 1
    assert type(events[0]).__name__ == "SessionCreatedEvent", type(events[0])


def test_manual():
    with Server() as s, openai.OpenAI(api_key="x", base_url=f"http://127.0.0.1:{s.port}/v1") as client:
        with client.realtime.connect(extra_query=QUERY) as c:
            c.session.update(session={**session(turn_detection=None), "include": ["item.input_audio_transcription.logprobs"]})
            for piece in pieces():
                c.input_audio_buffer.append(audio=piece)
            c.input_audio_buffer.commit()
            events = []
            for e in c:
                events.append(e)
                if e.type in DONE:
                    break
            check(events)
            for e in events:
                if e.type.endswith(".delta") or e.type == DONE[0]:
                    assert "".join(p.token for p in e.logprobs) == (e.transcript if e.type == DONE[0] else e.delta), e
                    assert all(-5 < p.logprob <= 0 and bytes(p.bytes).decode() == p.token for p in e.logprobs), e


def test_manual_async():
    async def all(port):
        async with openai.AsyncOpenAI(api_key="x", base_url=f"http://127.0.0.1:{port}/v1") as client:
            async with client.realtime.connect(model="whisper-1", extra_query=QUERY) as c:
                await c.session.update(session=session(turn_detection=None))
                for piece in pieces():
                    await c.input_audio_buffer.append(audio=piece)
                await c.input_audio_buffer.commit()
                events = []
                async for e in c:
                    events.append(e)
                    if e.type in DONE:
                        break
                check(events)
    with Server() as s:
        asyncio.run(all(s.port))


def test_turns():
    with Server() as s, openai.OpenAI(api_key="x", base_url=f"http://127.0.0.1:{s.port}/v1") as client:
        with client.realtime.connect(extra_query=QUERY) as c:
            c.session.update(session=session(turn_detection={"type": "server_vad", "silence_duration_ms": 300}))
            for piece in pieces() + [base64.b64encode(bytes(64000)).decode()]:
                c.input_audio_buffer.append(audio=piece)
            c.input_audio_buffer.commit()
            seen = []
            for e in c:
                seen.append(e)
                assert e.type != "error", e
                if e.type in DONE:
                    break
            names = [type(e).__name__ for e in seen]
            for name in ("SessionCreatedEvent", "SessionUpdatedEvent", "InputAudioBufferSpeechStartedEvent",
                         "InputAudioBufferSpeechStoppedEvent", "InputAudioBufferCommittedEvent", "ConversationItemAdded"):
                assert name in names, names


def test_errors():
    with Server() as s, openai.OpenAI(api_key="x", base_url=f"http://127.0.0.1:{s.port}/v1") as client:
        with client.realtime.connect(extra_query=QUERY) as c:
            assert c.recv().type == "session.created"
            c.input_audio_buffer.commit(event_id="c1")
            e = c.recv()
            assert type(e).__name__ == "RealtimeErrorEvent", type(e)
            assert (e.error.code, e.error.event_id) == ("input_audio_buffer_commit_empty", "c1"), e
            c.send({"type": "session.update", "session": {"type": "realtime"}})
            assert c.recv().error.param == "session.type"


def test_secrets():
    with Server() as s, openai.OpenAI(api_key="x", base_url=f"http://127.0.0.1:{s.port}/v1") as client:
        made = client.realtime.client_secrets.create(expires_after={"anchor": "created_at", "seconds": 60}, session=session())
        assert made.value.startswith("ek_") and made.expires_at and made.session.audio.input.format.rate == 16000, made
        with openai.OpenAI(api_key=made.value, base_url=str(client.base_url)) as other:
            with other.realtime.connect(extra_query=QUERY) as c:
                e = c.recv()
                assert e.session.audio.input.format.rate == 16000, e


run(globals())
