# steno: chats with tools over HTTP. SPDX-License-Identifier: MIT
#
# The model is small and has learned nothing of calls: a grammar makes it write them.
import json

from gguf_template import LM, model_with_tools
from serving import Server, ask, events, run

USER = {"role": "user", "content": "one two"}
PARAMETERS = {"type": "object", "properties": {"town": {"enum": ["Rome", "Oslo"]}, "days": {"$ref": "#/$defs/days"}},
              "required": ["town", "days"], "additionalProperties": False, "$defs": {"days": {"type": "integer", "minimum": 1, "maximum": 9}}}
WEATHER = {"type": "function", "function": {"name": "weather", "description": "Weather of a town", "parameters": PARAMETERS}}
NOW = {"type": "function", "function": {"name": "now"}}
NAMED = {"type": "function", "function": {"name": "weather"}}


def chat(s, **fields):
    status, body = ask(s, "/v1/chat/completions", **{"messages": [USER], "max_tokens": 200, "reasoning_effort": "none", **fields})
    return status, body if fields.get("stream") and status == 200 else json.loads(body)


def choice(s, **fields):
    status, answer = chat(s, **fields)
    assert status == 200, answer
    return answer["choices"][0]


def check_weather(call):
    assert call["type"] == "function" and call["id"].startswith("call_") and call["function"]["name"] == "weather", call
    arguments = json.loads(call["function"]["arguments"])
    assert arguments["town"] in ("Rome", "Oslo") and 1 <= arguments["days"] <= 9 and len(arguments) == 2, call


def without_id(call):
    return {k: v for k, v in call.items() if k not in ("id", "index")}


def test_calls_are_held_to_their_schemas(s):
    for seed in range(6):
        one = choice(s, tools=[NOW, WEATHER], tool_choice=NAMED, parallel_tool_calls=False, temperature=1.5, seed=seed)
        message = one["message"]
        assert one["finish_reason"] == "tool_calls" and message["content"] is None and len(message["tool_calls"]) == 1, one
        check_weather(message["tool_calls"][0])
    names = set()
    for seed in range(12):
        one = choice(s, tools=[NOW, WEATHER], tool_choice="required", temperature=2, seed=seed)
        for call in one["message"].get("tool_calls", []):
            names.add(call["function"]["name"])
            if call["function"]["name"] == "weather":
                check_weather(call)
            else:
                assert call["function"]["arguments"] == "{}", call
        ends = "tool_calls" if "tool_calls" in one["message"] else "length"
        assert one["finish_reason"] in (ends, "length"), one
    assert names == {"now", "weather"}, names
    allowed = {"type": "allowed_tools", "allowed_tools": {"mode": "required", "tools": [NAMED]}}
    check_weather(choice(s, tools=[NOW, WEATHER], tool_choice=allowed, parallel_tool_calls=False)["message"]["tool_calls"][0])
    several = choice(s, tools=[NOW, WEATHER], tool_choice=NAMED, parallel_tool_calls=False, n=3, temperature=1, logprobs=True)
    assert len(several["logprobs"]["content"]) > 5, several


STRICT = {**WEATHER, "function": {**WEATHER["function"], "strict": True}}


def test_streamed_calls_are_those_of_the_whole_answer(s):
    n_calls = 0
    for fields in ({"tool_choice": NAMED}, {"tool_choice": "required", "n": 3}, {"tool_choice": "required", "parallel_tool_calls": True},
                   {"tool_choice": "auto", "max_tokens": 60}, {"tool_choice": "none", "max_tokens": 60}):
        fields = {"tools": [NOW, WEATHER], "temperature": 2, "seed": 7, "parallel_tool_calls": False, "max_tokens": 250, "logprobs": True, **fields}
        whole = chat(s, **fields)[1]["choices"]
        body = chat(s, stream=True, stream_options={"include_usage": True}, **fields)[1]
        all = events(body)
        assert all[-1] == "[DONE]" and all[-2]["choices"] == [], all
        for one in whole:
            parts = [c for e in all[:-2] for c in e["choices"] if c["index"] == one["index"]]
            calls = [call for p in parts for call in p["delta"].get("tool_calls", [])]
            n_calls += len(calls)
            assert [c["index"] for c in calls] == list(range(len(calls))), calls
            assert [without_id(c) for c in calls] == [without_id(c) for c in one["message"].get("tool_calls", [])], (calls, one)
            assert "".join(p["delta"].get("content") or "" for p in parts) == (one["message"]["content"] or ""), (parts, one)
            assert [p["finish_reason"] for p in parts if p["finish_reason"]] == [one["finish_reason"]], (parts, one)
            got = [i for p in parts if p["logprobs"] for i in p["logprobs"]["content"]]
            assert got == one["logprobs"]["content"], (len(got), len(one["logprobs"]["content"]), fields)
    assert n_calls >= 4, n_calls


def prompt_tokens(s, **fields):
    status, answer = chat(s, max_tokens=1, **fields)
    assert status == 200, answer
    return answer["usage"]["prompt_tokens"]


def test_the_prompt_has_tools_calls_and_results(s):
    plain = prompt_tokens(s)
    assert prompt_tokens(s, tools=[WEATHER], tool_choice="none") == plain
    with_tools = prompt_tokens(s, tools=[WEATHER])
    assert with_tools > plain + 50 and prompt_tokens(s, tools=[WEATHER], tool_choice=NAMED) == with_tools
    call = {"id": "call_1", "type": "function", "function": {"name": "weather", "arguments": "{\"town\":\"Rome\",\"days\":2}"}}
    talk = [USER, {"role": "assistant", "content": None, "tool_calls": [call]}, {"role": "tool", "tool_call_id": "call_1", "content": "sun"}]
    assert prompt_tokens(s, messages=talk, tools=[WEATHER]) > with_tools + 20
    assert prompt_tokens(s, messages=talk) > plain + 20
    assert prompt_tokens(s, messages=talk + [{"role": "assistant", "content": "Sun."}, USER], tools=[WEATHER]) > with_tools + 30


def test_what_a_grammar_cannot_hold_is_refused(s):
    wrong = {"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": {"a": {"type": "string", "pattern": "x"}}}}}
    status, answer = chat(s, tools=[wrong], tool_choice="required")
    assert status == 400 and answer["error"]["param"] == "tools" and \
        answer["error"]["message"].startswith("tools[0].function.parameters/properties/a/pattern: this keyword"), answer
    endless = {"type": "function", "function": {"name": "g", "parameters": {"type": "object", "properties": {"a": {"$ref": "#"}}, "required": ["a"]}}}
    status, answer = chat(s, tools=[NOW, wrong, endless], tool_choice={"type": "function", "function": {"name": "g"}})
    assert status == 400 and answer["error"]["param"] == "tools" and \
        answer["error"]["message"].startswith("tools[2].function.parameters: it never ends"), answer
    assert chat(s, tools=[wrong], max_tokens=5)[0] == 200
    strict = {**wrong, "function": {**wrong["function"], "strict": True}}
    assert chat(s, tools=[strict], max_tokens=5)[0] == 400
    listed = {"type": "function", "function": {"name": "f", "parameters": {"type": ["object"], "additionalProperties": False}}}
    assert choice(s, tools=[listed], tool_choice="required", parallel_tool_calls=False)["finish_reason"] == "tool_calls"
    status, answer = chat(s, tools=[NOW, {"type": "function", "function": {"name": "f", "strict": 1}}])
    assert status == 400 and answer["error"]["param"] == "tools[1]", answer
    status, answer = chat(s, tools=[NOW], response_format={"type": "json_object"})
    assert status == 400 and answer["error"]["param"] == "response_format", answer


def test_a_text_may_precede_strict_calls(s):
    n_calls = 0
    for seed in range(8):
        one = choice(s, tools=[STRICT], temperature=2, seed=seed, max_tokens=900, parallel_tool_calls=False)
        assert "<tool_call>" not in (one["message"]["content"] or "") or one["finish_reason"] == "length", one
        for call in one["message"].get("tool_calls", []):
            check_weather(call)
            n_calls += len(one["message"]["content"] or "") > 10
    assert n_calls >= 2, n_calls


def test_thoughts_that_the_prompt_begins_end_before_a_call():
    with model_with_tools(thinks=True) as path, Server(model=("-m", path)) as s:
        ends = 0
        for seed in range(8):
            one = choice(s, tools=[NOW], tool_choice="required", parallel_tool_calls=False, temperature=2, seed=seed, max_tokens=900)
            text = one["message"]["content"] or ""
            assert not text.startswith("<think>") and not text.startswith("<tool_call>"), one
            assert ("tool_calls" in one["message"]) == text.endswith("</think>") or one["finish_reason"] == "length", one
            ends += "tool_calls" in one["message"]
        assert ends >= 4, ends


def test_models_whose_template_has_no_tools():
    with Server(model=("-m", LM)) as s:
        status, answer = chat(s, tools=[NOW])
        assert status == 400 and answer["error"]["param"] == "tools" and "template" in answer["error"]["message"], answer
        assert chat(s, tools=[NOW], tool_choice="none", max_tokens=2)[0] == 200


def with_tools(tests):
    with model_with_tools() as path, Server(model=("-m", path)) as s:
        run({name: lambda t=t: t(s) for name, t in tests.items() if name.startswith("test_") and t.__code__.co_argcount})
    run({name: t for name, t in tests.items() if name.startswith("test_") and not t.__code__.co_argcount})


with_tools(dict(globals()))
