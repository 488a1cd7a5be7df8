# steno: OpenAI's own client. SPDX-License-Identifier: MIT
import asyncio
import json
import os

from gguf_template import model_with_tools
from serving import SOURCE, SPOKEN, Server, need, program, run

openai = need("openai")
TEXT = json.loads(program(SPOKEN, "-f", "json"))["text"].strip()


def create(client, file=None, **fields):
    with open(file or SPOKEN, "rb") as f:
        return client.audio.transcriptions.create(**{"model": "whisper-1", "file": f, **fields})


def client_of(s, kind=None, **more):
    return (kind or openai.OpenAI)(base_url=f"http://127.0.0.1:{s.port}/v1", api_key="x", **more)


def test_formats():
    with Server() as s, client_of(s) as c:
        assert c.models.list().data[0].id == "demo" and c.models.retrieve("demo").id == "demo"
        assert create(c).text == TEXT
        assert create(c, response_format="text") == program(SPOKEN, "-f", "txt").decode()
        for format in ("srt", "vtt"):
            assert create(c, response_format=format) == program(SPOKEN, "-f", format).decode()
        whole = create(c, response_format="verbose_json")
        assert whole.text == TEXT and whole.language == "english" and whole.segments and not whole.words, whole
        own = json.loads(program(SPOKEN, "-f", "verbose_json"))
        assert [x.tokens for x in whole.segments] == [x["tokens"] for x in own["segments"]]
        words = create(c, response_format="verbose_json", timestamp_granularities=["word"])
        assert [w.word for w in words.words] == TEXT.split() and not words.segments, words
        both = create(c, response_format="verbose_json", timestamp_granularities=["word", "segment"])
        assert both.words and both.segments
        listed = create(c, include=["logprobs"]).logprobs
        assert "".join(x.token for x in listed).strip() == TEXT and all(x.logprob <= 0 for x in listed)
        with open(SPOKEN, "rb") as f:
            data = f.read()
        for file in (data, ("a.wav", data), ("a.wav", data, "audio/wav"), ("noise.webm", data, "video/webm")):
            assert c.audio.transcriptions.create(model="", file=file).text == TEXT


def test_fields():
    with Server() as s, client_of(s) as c:
        assert create(c, language="en", prompt="digits", temperature=0, chunking_strategy="auto").text == TEXT
        assert create(c, language="en-US", extra_body={"beam_size": 2, "seed": 3}).text
        assert create(c, temperature=0.4).text
        with open(SPOKEN, "rb") as f:
            text = c.audio.translations.create(model="whisper-1", file=f).text
        assert text == json.loads(program(SPOKEN, "--task", "translate", "-f", "json"))["text"].strip()


def test_stream():
    with Server() as s, client_of(s) as c:
        for fields in ({}, {"include": ["logprobs"]}, {"response_format": "verbose_json"}, {"response_format": "text"}):
            events = list(create(c, stream=True, **fields))
            deltas = [e for e in events if e.type == "transcript.text.delta"]
            done = events[-1]
            assert done.type == "transcript.text.done" and done.text == TEXT == "".join(e.delta for e in deltas), events
            assert done.usage.type == "tokens" and done.usage.output_tokens > 0
            if "include" in fields:
                assert "".join(x.token for e in deltas for x in e.logprobs).strip() == TEXT


def refused(kind, code, call):
    try:
        call()
    except openai.APIStatusError as e:
        assert isinstance(e, kind) and e.code == code and e.request_id, (type(e), e.code, e.request_id)
        return e
    raise AssertionError(f"{code}: it was not refused")


def test_errors():
    with Server("--max-upload", "1") as s, client_of(s, max_retries=0) as c:
        assert refused(openai.NotFoundError, "model_not_found", lambda: create(c, model="nope")).param == "model"
        assert refused(openai.BadRequestError, "invalid_value", lambda: create(c, response_format="doc")).param == "response_format"
        assert refused(openai.BadRequestError, "invalid_value", lambda: create(c, temperature=7)).param == "temperature"
        refused(openai.BadRequestError, "unsupported_format", lambda: c.audio.transcriptions.create(model="", file=b"no sound at all"))
        refused(openai.APIStatusError, "request_too_large", lambda: c.audio.transcriptions.create(model="", file=bytes(1500000)))


def test_many():
    with Server() as s:
        texts = asyncio.run(ask_with_bytes(s))
        assert set(texts) == {TEXT}, texts


async def ask_with_bytes(s):
    with open(SPOKEN, "rb") as f:
        data = f.read()
    async with client_of(s, openai.AsyncOpenAI) as c:
        async def plain():
            return (await c.audio.transcriptions.create(model="", file=data)).text

        async def streamed():
            stream = await c.audio.transcriptions.create(model="", file=data, stream=True)
            return "".join([e.delta async for e in stream if e.type == "transcript.text.delta"])
        return await asyncio.gather(*[plain() for _ in range(8)], *[streamed() for _ in range(4)])


def test_chat():
    asked = {"model": "", "messages": [{"role": "user", "content": "one two"}], "max_tokens": 6, "n": 2, "logprobs": True, "temperature": 1}
    with Server(model=("-m", os.path.join(SOURCE, "tests/data/lm/qwen3-q4_0.gguf"))) as s, client_of(s, max_retries=0) as c:
        whole = c.chat.completions.create(**asked)
        assert len(whole.choices) == 2 and whole.usage.completion_tokens == 12, whole
        assert all(len(choice.logprobs.content) == 6 and choice.logprobs.content[0].logprob < 0 for choice in whole.choices), whole
        texts, usage = ["", ""], None
        for chunk in c.chat.completions.create(stream=True, stream_options={"include_usage": True}, **asked):
            usage = chunk.usage or usage
            for choice in chunk.choices:
                texts[choice.index] += choice.delta.content or ""
        assert texts == [choice.message.content for choice in whole.choices] and usage.completion_tokens == 12, (texts, usage, whole)
        tool = {"type": "function", "function": {"name": "f", "parameters": {}}}
        assert refused(openai.BadRequestError, "invalid_value", lambda: c.chat.completions.create(tools=[tool], **asked)).param == "tools"


def test_tools():
    parameters = {"type": "object", "properties": {"town": {"enum": ["Rome", "Oslo"]}}, "required": ["town"], "additionalProperties": False}
    tool = {"type": "function", "function": {"name": "weather", "parameters": parameters, "strict": True}}
    talk = [{"role": "user", "content": "one two"}]
    asked = {"model": "", "tools": [tool], "tool_choice": {"type": "function", "function": {"name": "weather"}}, "reasoning_effort": "none",
             "parallel_tool_calls": False, "temperature": 1, "seed": 3, "max_tokens": 400}
    with model_with_tools() as path, Server(model=("-m", path)) as s, client_of(s, max_retries=0) as c:
        choice = c.chat.completions.create(messages=talk, **asked).choices[0]
        call = choice.message.tool_calls[0]
        assert choice.finish_reason == "tool_calls" and choice.message.content is None and call.function.name == "weather", choice
        assert json.loads(call.function.arguments)["town"] in ("Rome", "Oslo"), call
        with c.chat.completions.stream(messages=talk, **asked) as stream:
            for _ in stream:
                pass
            last = stream.get_final_completion().choices[0]
        assert last.finish_reason == "tool_calls" and last.message.tool_calls[0].function.arguments == call.function.arguments, last
        assert last.message.tool_calls[0].function.parsed_arguments["town"] in ("Rome", "Oslo"), last
        talk += [choice.message, {"role": "tool", "tool_call_id": call.id, "content": "sun"}]
        after = c.chat.completions.create(messages=talk, **{**asked, "tool_choice": "none"}).choices[0]
        assert after.message.tool_calls is None and after.finish_reason in ("stop", "length"), after
        refused(openai.BadRequestError, "invalid_value", lambda: c.chat.completions.create(
            messages=talk[:2] + [{"role": "tool", "tool_call_id": "other", "content": "sun"}], **asked))


run(globals())
