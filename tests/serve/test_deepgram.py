# steno: Deepgram's own client against /v1/listen, live and with a file. SPDX-License-Identifier: MIT
#
# Skipped without the package deepgram-sdk.
import threading

from serving import SPOKEN, Server, need, pcm

deepgram = need("deepgram")
from deepgram.core.api_error import ApiError  # noqa: E402
from deepgram.core.events import EventType  # noqa: E402
from deepgram.environment import DeepgramClientEnvironment  # noqa: E402


def client_of(s):
    url, rest = f"ws://127.0.0.1:{s.port}", f"http://127.0.0.1:{s.port}"
    known = DeepgramClientEnvironment.__init__.__code__.co_varnames
    agent = {"agent_rest": rest} if "agent_rest" in known else {}
    return deepgram.DeepgramClient(api_key="any", environment=DeepgramClientEnvironment(base=rest, production=url, agent=url, **agent))


def listen(client, pcm):
    got, over = [], threading.Event()
    with client.listen.v1.connect(model="nova-3", language="en", encoding="linear16", sample_rate="16000", interim_results="true",
                                  utterance_end_ms="1000", vad_events="true", endpointing="300") as c:
        c.on(EventType.MESSAGE, got.append)
        c.on(EventType.CLOSE, lambda _: over.set())
        threading.Thread(target=c.start_listening, daemon=True).start()
        for at in range(0, len(pcm), 3200):
            c.send_media(pcm[at:at + 3200])
        c.send_keep_alive()
        c.send_finalize()
        c.send_close_stream()
        assert over.wait(60), got
    return got


def file_of(client):
    with open(SPOKEN, "rb") as f:
        answer = client.listen.v1.media.transcribe_file(request=f.read(), model="nova-3", language="en", utterances=True, punctuate=True)
    best = answer.results.channels[0].alternatives[0]
    assert best.transcript and best.words[0].punctuated_word and 0 < best.confidence <= 1, best
    assert answer.results.utterances[0].words and answer.metadata.duration > 3 and answer.metadata.channels == 1, answer
    try:
        client.listen.v1.media.transcribe_url(url="http://127.0.0.1/a.wav")
        raise AssertionError("a URL was accepted")
    except ApiError as e:
        assert e.status_code == 400 and "fetches no files" in str(e.body), e


with Server() as s:
    file_of(client_of(s))
    got = listen(client_of(s), pcm())
    kinds = [type(m).__name__ for m in got]
    finals = [m for m in got if m.type == "Results" and m.is_final]
    assert finals and any(m.channel.alternatives[0].transcript for m in finals), kinds
    assert any(m.from_finalize for m in finals), kinds
    word = next(w for m in finals for w in m.channel.alternatives[0].words)
    assert word.punctuated_word and word.end >= word.start
    assert got[-1].type == "Metadata" and got[-1].duration > 3 and got[-1].channels == 1, got[-1]
    print(kinds)
