# steno: fields of a request and options of the command line. SPDX-License-Identifier: MIT
#
# A field and the option of that meaning give the same bytes.
import json
from serving import SPOKEN, Server, program, run

SAME = (
    ({}, ()),
    ({"language": "en-US", "prompt": "zero one"}, ("-l", "en", "--initial-prompt", "zero one")),
    ({"languages[]": ("zh", "en")}, ("-l", "zh,en")),
    ({"languages[]": ("zh", "ja")}, ("-l", "zh,ja")),
    ({"temperature": "0"}, ()),
    ({"temperature": "0.4", "seed": "3"}, ("--temperature", "0.4", "--temperature-increment-on-fallback", "0", "--seed", "3")),
    ({"fallback_temperatures": "0.3, 0.7", "logprob_threshold": "0"}, ("--fallback-temperatures", "0.3,0.7", "--logprob-threshold", "0")),
    ({"temperature": "0.2", "fallback_temperatures": "0.7"}, ("--temperature", "0.2", "--fallback-temperatures", "0.7")),
    ({"temperature": "1"}, ("--temperature", "1")),
    ({"temperature_increment_on_fallback": "0"}, ("--temperature-increment-on-fallback", "0")),
    ({"beam_size": "2", "patience": "2"}, ("--beam-size", "2", "--patience", "2")),
    ({"beam_size": "0", "best_of": "2"}, ("--beam-size", "0", "--best-of", "2")),
    ({"without_timestamps": "True"}, ("--without-timestamps",)),
    ({"max_len": "10", "split_on_word": "1"}, ("--max-len", "10", "--split-on-word")),
    ({"offset_ms": "1000", "duration_ms": "1500"}, ("--offset-ms", "1000", "--duration-ms", "1500")),
    ({"clip_timestamps": "0,1,2,3"}, ("--clip-timestamps", "0,1,2,3")),
    ({"hotwords": "seven, two", "hotwords_boost": "4"}, ("--hotwords", "seven, two", "--hotwords-boost", "4")),
    ({"suppress_non_speech": "false"}, ("--no-suppress-non-speech",)),
    ({"word_timestamps": "1"}, ("--word-timestamps",)),
    ({"guards": "off"}, ("--guards", "off")),
    ({"condition_on_previous_text": "no"}, ("--no-condition-on-previous-text",)),
    ({"task": "translate"}, ("--task", "translate")),
    ({"audio_ctx": "300", "max_context": "0"}, ("--audio-ctx", "300", "--max-context", "0")),
)


def test_fields_are_options():
    with Server() as s:
        for fields, options in SAME:
            status, _, body = s.transcribe(SPOKEN, response_format="srt", **fields)
            assert status == 200 and body == program(SPOKEN, "-f", "srt", *options), (fields, status, body)


def test_fields_of_other_servers_are_options():
    with Server() as s:
        for fields, options in (({"temperature_inc": "0", "offset_t": "1000", "no_timestamps": "true"},
                                 ("--temperature-increment-on-fallback", "0", "--offset-ms", "1000", "--without-timestamps")),
                                ({"beam_size": "-1", "suppress_nst": "false", "entropy_thold": "2.4"},
                                 ("--beam-size", "0", "--no-suppress-non-speech", "--entropy-threshold", "2.4"))):
            status, _, body = s.transcribe(SPOKEN, "/inference", response_format="srt", **fields)
            assert status == 200 and body == program(SPOKEN, "-f", "srt", *options), (fields, status, body)
        status, headers, body = s.transcribe(SPOKEN, "/inference", offset_n="2")
        assert status == 200 and headers["steno-ignored"] == "offset_n", headers
        status, _, body = s.transcribe(SPOKEN, "/inference", temperature_inc="7")
        assert status == 400 and json.loads(body)["error"]["param"] == "temperature_inc", body


def test_strict_servers_refuse_unknown_fields():
    with Server("--strict-fields") as s:
        status, _, body = s.transcribe(SPOKEN, speed="2")
        error = json.loads(body)["error"]
        assert (status, error["code"], error["param"]) == (400, "unknown_parameter", "speed"), body
    with Server() as s:
        status, headers, _ = s.transcribe(SPOKEN, speed="2")
        assert status == 200 and headers["steno-ignored"] == "speed", headers


run(globals())
