#!/usr/bin/env python3
# steno tests: make tests/data/chat_templates.json. SPDX-License-Identifier: MIT
#
#   python3 tests/golden/make/make_chat_templates.py > tests/data/chat_templates.json
#
# Chat templates as model files have them, and the prompts that Jinja 3.1 writes by them with the settings of transformers. A template
# without rows is one that steno does not know.
import json

import jinja2

ML = ("{% for message in messages %}{{'<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>' + '\n'}}{% endfor %}"
      "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}")
HEAD = "{%- if messages[0]['role'] == 'system' %}{%- set system_message = messages[0]['content'] %}"
TEMPLATES = {
    "chatml": ML,
    "chatml, bos first": "{{bos_token}}" + ML,
    "chatml, as text": "{% for m in messages %}<|im_start|>{{ m['role'] }}\n{{ m['content'] }}<|im_end|>\n{% endfor %}\n"
                       "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}",
    "chatml, trimmed": ML.replace("message['content'] +", "message['content'] | trim +"),
    "SmolLM2": "{% for message in messages %}{% if loop.first and messages[0]['role'] != 'system' %}{{ '<|im_start|>system\n"
               "You are a helpful AI assistant named SmolLM, trained by Hugging Face<|im_end|>\n' }}{% endif %}"
               + ML[len("{% for message in messages %}"):],
    "Qwen2": "{% for message in messages %}{% if loop.first and messages[0]['role'] != 'system' %}{{ '<|im_start|>system\n"
             "You are a helpful assistant.<|im_end|>\n' }}{% endif %}" + ML[len("{% for message in messages %}"):],
    "Qwen2.5": """{%- if tools %}
    {{- '<|im_start|>system\\n' }}
    {%- if messages[0]['role'] == 'system' %}
        {{- messages[0]['content'] }}
    {%- else %}
        {{- 'You are Qwen, created by Alibaba Cloud. You are a helpful assistant.' }}
    {%- endif %}
    {{- "\\n\\n# Tools\\n\\nYou may call one or more functions.\\n\\n<tools>" }}
    {%- for tool in tools %}
        {{- "\\n" }}
        {{- tool | tojson }}
    {%- endfor %}
    {{- "\\n</tools>\\n\\n<tool_call>\\n{\\"name\\": <function-name>}\\n</tool_call><|im_end|>\\n" }}
{%- else %}
    {%- if messages[0]['role'] == 'system' %}
        {{- '<|im_start|>system\\n' + messages[0]['content'] + '<|im_end|>\\n' }}
    {%- else %}
        {{- '<|im_start|>system\\nYou are Qwen, created by Alibaba Cloud. You are a helpful assistant.<|im_end|>\\n' }}
    {%- endif %}
{%- endif %}
{%- for message in messages %}
    {%- if (message.role == "user") or (message.role == "system" and not loop.first) or (message.role == "assistant" and not message.tool_calls) %}
        {{- '<|im_start|>' + message.role + '\\n' + message.content + '<|im_end|>' + '\\n' }}
    {%- elif message.role == "assistant" %}
        {{- '<|im_start|>' + message.role }}
        {%- if message.content %}
            {{- '\\n' + message.content }}
        {%- endif %}
        {{- '<|im_end|>\\n' }}
    {%- elif message.role == "tool" %}
        {{- '<|im_start|>user' }}
        {{- '\\n<tool_response>\\n' }}
        {{- message.content }}
        {{- '\\n</tool_response>' }}
        {{- '<|im_end|>\\n' }}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|im_start|>assistant\\n' }}
{%- endif %}
""",
    "Qwen1.5, its system in a variable": "{% if messages[0]['role'] == 'system' %}{% set system_message = messages[0]['content'] %}"
        "{% else %}{% set system_message = 'You are a helpful assistant' %}{% endif %}{{ '<|im_start|>system\n' + system_message + "
        "'<|im_end|>\n' }}{% for message in messages %}{% if message['role'] != 'system' %}{{ '<|im_start|>' + message['role'] + '\n' + "
        "message['content'] + '<|im_end|>\n' }}{% endif %}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}"
        "{% endif %}",
    "Qwen3": "{%- if messages[0].role == 'system' %}{{- '<|im_start|>system\n' + messages[0].content + '<|im_end|>\n' }}{%- endif %}"
             "{%- for message in messages %}{%- if message.role == 'user' %}{{- '<|im_start|>' + message.role + '\n' + message.content + "
             "'<|im_end|>' + '\n' }}{%- elif message.role == 'assistant' %}{%- set content = message.content %}{%- if '</think>' in "
             "content %}{%- set content = content.split('</think>')[-1].lstrip('\n') %}{%- endif %}{{- '<|im_start|>' + message.role + "
             "'\n' + content }}{{- '<|im_end|>\n' }}{%- endif %}{%- endfor %}{%- if add_generation_prompt %}{{- '<|im_start|>assistant\n'"
             " }}{%- if enable_thinking is defined and enable_thinking is false %}{{- '<think>\n\n</think>\n\n' }}{%- endif %}"
             "{%- endif %}",
    "QwQ": ML.replace("{{ '<|im_start|>assistant\n' }}", "{{ '<|im_start|>assistant\n<think>\n' }}"),
    "Llama 2": "{% if messages[0]['role'] == 'system' %}{% set loop_messages = messages[1:] %}{% set system_message = messages[0]['content'] "
        "%}{% else %}{% set loop_messages = messages %}{% set system_message = false %}{% endif %}{% for message in loop_messages %}"
        "{% if (message['role'] == 'user') != (loop.index0 % 2 == 0) %}{{ raise_exception('Conversation roles must alternate "
        "user/assistant/user/assistant/...') }}{% endif %}{% if loop.index0 == 0 and system_message != false %}{% set content = "
        "'<<SYS>>\\n' + system_message + '\\n<</SYS>>\\n\\n' + message['content'] %}{% else %}{% set content = message['content'] %}"
        "{% endif %}{% if message['role'] == 'user' %}{{ bos_token + '[INST] ' + content.strip() + ' [/INST]' }}{% elif "
        "message['role'] == 'assistant' %}{{ ' '  + content.strip() + ' ' + eos_token }}{% endif %}{% endfor %}",
    "Mistral 7B v0.1": "{{ bos_token }}{% for message in messages %}{% if (message['role'] == 'user') != (loop.index0 % 2 == 0) %}"
        "{{ raise_exception('Conversation roles must alternate user/assistant/user/assistant/...') }}{% endif %}"
        "{% if message['role'] == 'user' %}{{ '[INST] ' + message['content'] + ' [/INST]' }}{% elif message['role'] == 'assistant' %}"
        "{{ message['content'] + eos_token + ' ' }}{% else %}{{ raise_exception('Only user and assistant roles are supported!') }}"
        "{% endif %}{% endfor %}",
    "Mistral v1": HEAD + """
    {%- set loop_messages = messages[1:] %}
{%- else %}
    {%- set loop_messages = messages %}
{%- endif %}

{{- bos_token }}
{%- for message in loop_messages %}
    {%- if (message['role'] == 'user') != (loop.index0 % 2 == 0) %}
        {{- raise_exception('After the optional system message, conversation roles must alternate user/assistant/user/assistant/...') }}
    {%- endif %}
    {%- if message['role'] == 'user' %}
        {%- if loop.first and system_message is defined %}
            {{- ' [INST] ' + system_message + '\\n\\n' + message['content'] + ' [/INST]' }}
        {%- else %}
            {{- ' [INST] ' + message['content'] + ' [/INST]' }}
        {%- endif %}
    {%- elif message['role'] == 'assistant' %}
        {{- ' ' + message['content'] + eos_token}}
    {%- else %}
        {{- raise_exception('Only user and assistant roles are supported, with the exception of an initial optional system message!') }}
    {%- endif %}
{%- endfor %}
""",
    "Mistral v3": HEAD + """
    {%- set loop_messages = messages[1:] %}
{%- else %}
    {%- set loop_messages = messages %}
{%- endif %}
{%- if not tools is defined %}
    {%- set tools = none %}
{%- endif %}
{%- set user_messages = loop_messages | selectattr("role", "equalto", "user") | list %}
{{- bos_token }}
{%- for message in loop_messages %}
    {%- if message["role"] == "user" %}
        {%- if tools is not none and (message == user_messages[-1]) %}
            {{- "[AVAILABLE_TOOLS] [" }}
            {{- "]" }}
            {{- "[/AVAILABLE_TOOLS]" }}
        {%- endif %}
        {%- if loop.last and system_message is defined %}
            {{- "[INST] " + system_message + "\\n\\n" + message["content"] + "[/INST]" }}
        {%- else %}
            {{- "[INST] " + message["content"] + "[/INST]" }}
        {%- endif %}
    {%- elif message.tool_calls is defined and message.tool_calls is not none %}
        {{- "[TOOL_CALLS] [" }}
        {{- "]" + eos_token }}
    {%- elif message["role"] == "assistant" %}
        {{- " " + message["content"]|trim + eos_token}}
    {%- endif %}
{%- endfor %}
""",
    "Mistral v3-tekken": HEAD + """
    {%- set loop_messages = messages[1:] %}
{%- else %}
    {%- set loop_messages = messages %}
{%- endif %}
{{- bos_token }}
{%- for message in loop_messages %}
    {%- if message["role"] == "user" %}
        {%- if loop.last and system_message is defined %}
            {{- "[INST]" + system_message + "\\n\\n" + message["content"] + "[/INST]" }}
        {%- else %}
            {{- "[INST]" + message["content"] + "[/INST]" }}
        {%- endif %}
    {%- elif message["role"] == "assistant" %}
        {{- message["content"] + eos_token}}
    {%- endif %}
{%- endfor %}
""",
    "Mistral v7": """{{- bos_token }}
{%- for message in messages %}
    {%- if message["role"] == "user" %}
        {{- "[INST] " + message["content"] + "[/INST]" }}
    {%- elif message["role"] == "system" %}
        {{- "[SYSTEM_PROMPT] " + message["content"] + "[/SYSTEM_PROMPT]" }}
    {%- elif message["role"] == "assistant" %}
        {{- " " + message["content"] + eos_token }}
    {%- endif %}
{%- endfor %}
""",
    "Mistral v7-tekken": """{{- bos_token }}
{%- for message in messages %}
    {%- if message['role'] == 'user' %}
        {{- '[INST]' + message['content'] + '[/INST]' }}
    {%- elif message['role'] == 'system' %}
        {{- '[SYSTEM_PROMPT]' + message['content'] + '[/SYSTEM_PROMPT]' }}
    {%- elif message['role'] == 'assistant' %}
        {{- message['content'] + eos_token }}
    {%- endif %}
{%- endfor %}
""",
    "Llama 3": "{% set loop_messages = messages %}{% for message in loop_messages %}{% set content = '<|start_header_id|>' + message['role'] + "
        "'<|end_header_id|>\n\n'+ message['content'] | trim + '<|eot_id|>' %}{% if loop.index0 == 0 %}{% set content = bos_token + "
        "content %}{% endif %}{{ content }}{% endfor %}{% if add_generation_prompt %}{{ '<|start_header_id|>assistant<|end_header_id|>"
        "\n\n' }}{% endif %}",
    "Gemma 3": """{{ bos_token }}
{%- if messages[0]['role'] == 'system' -%}
    {%- set first_user_prefix = messages[0]['content'] + '

' -%}
    {%- set loop_messages = messages[1:] -%}
{%- else -%}
    {%- set first_user_prefix = "" -%}
    {%- set loop_messages = messages -%}
{%- endif -%}
{%- for message in loop_messages -%}
    {%- if (message['role'] == 'assistant') -%}
        {%- set role = "model" -%}
    {%- else -%}
        {%- set role = message['role'] -%}
    {%- endif -%}
    {{ '<start_of_turn>' + role + '
' + (first_user_prefix if loop.first else "") }}
    {{ message['content'] | trim }}
    {{ '<end_of_turn>
' }}
{%- endfor -%}
{%- if add_generation_prompt -%}
    {{'<start_of_turn>model
'}}
{%- endif -%}
""".replace("    {{ message['content']", "    {{- message['content']").replace("    {{ '<end_of_turn>", "    {{- '<end_of_turn>"),
}
CALLS = """{%- for call in message.tool_calls %}
            {%- if FIRST(loop.first and message.content) or (not loop.first)LAST %}
                {{- '\\n' }}
            {%- endif %}
            {%- set call = call.function %}
            {{- '<tool_call>\\n{"name": "' }}
            {{- call.name }}
            {{- '", "arguments": ' }}
            {%- if call.arguments is string %}
                {{- call.arguments }}
            {%- else %}
                {{- call.arguments | tojson }}
            {%- endif %}
            {{- '}\\n</tool_call>' }}
        {%- endfor %}"""
RESULT = """{%- elif message.role == "tool" %}
        {%- if loop.first or (messages[loop.index0 - 1].role != "tool") %}
            {{- '<|im_start|>user' }}
        {%- endif %}
        {{- '\\n<tool_response>\\n' }}
        {{- message.content }}
        {{- '\\n</tool_response>' }}
        {%- if loop.last or (messages[loop.index0 + 1].role != "tool") %}
            {{- '<|im_end|>\\n' }}
        {%- endif %}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|im_start|>assistant\\n' }}
{%- endif %}
"""
TOOLS = """{{- "# Functions\\n\\nThey are listed in <tools></tools>:\\n<tools>" }}
    {%- for tool in tools %}
        {{- "\\n" }}
        {{- tool | tojson }}
    {%- endfor %}
    {{- "\\n</tools>\\n\\nCall one with <tool_call></tool_call>:\\n<tool_call>\\n{\\"name\\": <its name>}\\n</tool_call><|im_end|>\\n" }}
{%- else %}
"""
# The forms of Qwen3 and of Qwen2.5, whose system text has a default.
TEMPLATES["tools, after an optional system text"] = """{%- if tools %}
    {{- '<|im_start|>system\\n' }}
    {%- if messages[0].role == 'system' %}
        {{- messages[0].content + '\\n\\n' }}
    {%- endif %}
    """ + TOOLS + """    {%- if messages[0].role == 'system' %}
        {{- '<|im_start|>system\\n' + messages[0].content + '<|im_end|>\\n' }}
    {%- endif %}
{%- endif %}
{%- for message in messages %}
    {%- if (message.role == "user") or (message.role == "system" and not loop.first) %}
        {{- '<|im_start|>' + message.role + '\\n' + message.content + '<|im_end|>' + '\\n' }}
    {%- elif message.role == "assistant" %}
        {{- '<|im_start|>' + message.role + '\\n' + message.content }}
        """ + CALLS.replace("FIRST", "").replace("LAST", "") + """
        {{- '<|im_end|>\\n' }}
    """ + RESULT
HALF = TEMPLATES["Qwen2.5"]
TEMPLATES["tools, after a system text with a default"] = HALF[:HALF.index("        {{- '<|im_end|>\\n' }}\n    {%- elif message.role == \"tool\"")] \
    + """        {%- for call in message.tool_calls %}
            {%- set call = call.function %}
            {{- '\\n<tool_call>\\n{"name": "' }}
            {{- call.name }}
            {{- '", "arguments": ' }}
            {{- call.arguments | tojson }}
            {{- '}\\n</tool_call>' }}
        {%- endfor %}
        {{- '<|im_end|>\\n' }}
    """ + RESULT.replace("loop.first or", "(loop.index0 == 0) or")
# As QwQ: a system text without a default, and whole thoughts only in an answer that is last.
NAMED, DEFAULT = "You are Qwen, created by Alibaba Cloud. You are a helpful assistant.", """    {%- else %}
        {{- '<|im_start|>system\\nYou are Qwen, created by Alibaba Cloud. You are a helpful assistant.<|im_end|>\\n' }}
"""
FORGET = """        {%- set content = message.content %}
        {%- if not loop.last %}
            {%- set content = message.content.split('</think>')[-1].lstrip('\\n') %}
        {%- endif %}
"""
TEMPLATES["tools, after thoughts"] = TEMPLATES["tools, after a system text with a default"].replace(DEFAULT, "").replace(NAMED, "") \
    .replace(' or (message.role == "assistant" and not message.tool_calls)', "").replace("""    {%- elif message.role == "assistant" %}
        {{- '<|im_start|>' + message.role }}
""", """    {%- elif message.role == "assistant" and not message.tool_calls %}
""" + FORGET + """        {{- '<|im_start|>' + message.role + '\\n' + content + '<|im_end|>' + '\\n' }}
    {%- elif message.role == "assistant" %}
""" + FORGET + """        {{- '<|im_start|>' + message.role }}
""").replace("{{- '\\n' + message.content }}", "{{- '\\n' + content }}").replace("assistant\\n' }}", "assistant\\n<think>\\n' }}")
# Thoughts of earlier answers are left out, but not of those to the last question, as by Qwen3.
TEMPLATES["tools and thoughts"] = TEMPLATES["tools, after an optional system text"].replace("{%- for message in messages %}", """{%- set ns = namespace(found=false, last_query_index=messages|length - 1) %}
{%- for message in messages[::-1] %}
    {%- if not ns.found and message.role == "user" and not (message.content.startswith('<tool_response>') and message.content.endswith('</tool_response>')) %}
        {%- set ns.found = true %}
        {%- set ns.last_query_index = messages|length - 1 - loop.index0 %}
    {%- endif %}
{%- endfor %}
{%- for message in messages %}
    {%- set content = message.content %}
    {%- set thoughts = '' %}
    {%- if '</think>' in content %}
        {%- set thoughts = content.split('</think>')[0].rstrip('\\n').split('<think>')[-1].lstrip('\\n') %}
        {%- set content = content.split('</think>')[-1].lstrip('\\n') %}
    {%- endif %}""").replace("""        {{- '<|im_start|>' + message.role + '\\n' + message.content }}
""", """        {%- if loop.index0 > ns.last_query_index and (loop.last or thoughts) %}
            {{- '<|im_start|>' + message.role + '\\n<think>\\n' + thoughts.strip('\\n') + '\\n</think>\\n\\n' + content.lstrip('\\n') }}
        {%- else %}
            {{- '<|im_start|>' + message.role + '\\n' + content }}
        {%- endif %}
""").replace("(loop.first and message.content)", "(loop.first and content)")
# Programs that write tools, calls or results in a way of their own: (form, its text, another text).
QWEN3, QWEN25, QWQ = "tools, after an optional system text", "tools, after a system text with a default", "tools, after thoughts"
LINE = """            {%- if (loop.first and message.content) or (not loop.first) %}
                {{- '\\n' }}
            {%- endif %}
"""
RESULTS = """        {%- if loop.first or (messages[loop.index0 - 1].role != "tool") %}
            {{- '<|im_start|>user' }}
        {%- endif %}
"""
OTHERS = [
    (QWEN3, "tool | tojson", "tool.function | tojson"), (QWEN25, "tool | tojson", "tool.function | tojson"), (QWEN3, "tool | tojson", "tool"),
    (QWEN3, "tool in tools", "tool in tools[1:]"), (QWEN25, "tool | tojson }}", "tool | tojson(indent=4) }}"),
    (QWEN3, RESULTS, "        {{- '<|im_start|>user' }}\n"), (QWEN3, "loop.first or (messages[loop.index0 - 1].role != \"tool\")", "true"),
    (QWEN3, "loop.last or (messages[loop.index0 + 1].role != \"tool\")", "true"), (QWEN3, "'<|im_start|>user' }}", "'<|im_start|>user\\n' }}"),
    (QWEN25, "{{- '<|im_start|>user' }}", "{{- '<|im_start|>tool' }}"), (QWEN3, "'\\n<tool_response>\\n'", "'<tool_response>\\n'"),
    (QWEN3, "{{- '\\n<tool_response>\\n' }}", "{{- '\\n<tool_response id=' + message.id + '>\\n' }}"),
    (QWEN3, "{{- '\\n<tool_response>\\n' }}", "{{- '\\n<tool_response>\\n' }}{{- message.id }}"),
    (QWEN25, "{{- message.content }}", "{{- message.content | trim }}"), (QWEN3, LINE, ""), (QWEN3, "(not loop.first)", "false"),
    (QWEN3, "(loop.first and message.content)", "loop.first"), (QWEN25, "'\\n<tool_call>\\n{", "'<tool_call>\\n{"),
    (QWEN3, "'}\\n</tool_call>' }}", "'}\\n</tool_call>\\n' }}"), (QWEN3, "{{- '<|im_end|>\\n' }}", "{{- '\\n<|im_end|>\\n' }}"),
    (QWEN25, "        {{- '<|im_end|>\\n' }}\n    {%- elif", "        {{- '\\n<|im_end|>\\n' }}\n    {%- elif"), (QWEN25, DEFAULT, ""),
    (QWEN25, "system\\n" + NAMED, "system\\nI am another."), (QWEN3, "messages[0].content + '\\n\\n'", "messages[0].content + '\\n'"),
    (QWEN3, "{{- \"# Functions", "{{- \"\\n# Functions"), (QWEN25, "{{- \"\\n\\n# Tools", "{{- \"\\n# Tools"),
    (QWEN3, "\"name\": \"' }}", "\"tool\": \"' }}"), (QWEN3, "'\", \"arguments\": '", "'\", \"parameters\": '"), (QWEN3, "call.name", "call.id + call.name"),
    (QWEN3, "assistant\\n' }}", "assistant\\n' }}{{- 'I: ' }}"), (QWEN25, "{%- if message.content %}", "{%- if true %}"),
    (QWEN3, "{%- if add_generation_prompt %}", "{{- '<|im_end|>\\n' }}{%- if add_generation_prompt %}"), (QWQ, "loop.index0 + 1", "loop.index0"),
]
UNKNOWN = {
    "empty": "",
    "white": " \n",
    "no form": "{{ messages }}",
    "Zephyr": "{% for message in messages %}\n{% if message['role'] == 'user' %}\n{{ '<|user|>\n' + message['content'] + eos_token }}\n{% endif %}"
              "\n{% if loop.last and add_generation_prompt %}\n{{ '<|assistant|>' }}\n{% endif %}\n{% endfor %}",
    "Phi 4": "{% for message in messages %}{{'<|im_start|>' + message['role'] + '<|im_sep|>' + message['content'] + '<|im_end|>'}}"
             "{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant<|im_sep|>' }}{% endif %}",
    "SmolVLM": "<|im_start|>{% for message in messages %}{{message['role'] | capitalize}}: {{ message['content'] }}<end_of_utterance>\n"
               "{% endfor %}{% if add_generation_prompt %}{{ 'Assistant:' }}{% endif %}",
    "Kimi": "{%- for message in messages -%}<|im_user|>{{message['role']}}<|im_middle|>{{message['content']}}<|im_end|>{%- endfor -%}"
            "<|im_start|>assistant<|im_middle|>",
    "Phi 3": "{% for m in messages %}{{'<|' + m['role'] + '|>' + '\n' + m['content'] + '<|end|>\n'}}{% endfor %}{{ '<|assistant|>\n' }}",
    "Vicuna": "{{ bos_token }}{% for m in messages %}{{ 'USER: ' + m['content'] + ' ASSISTANT:' }}{% endfor %}",
    "[INST] of another kind": "{% for m in messages %}{{ '[INST]: ' + m['content'] + ' [/INST]' + eos_token }}{% endfor %}",
    "ChatML with a name": ML.replace("'\n' + message['content']", "' name=x\n' + message['content']"),
    "Llama 4": "{{ bos_token }}{% for m in messages %}{{ '<|header_start|>' + m['role'] + '<|header_end|>\n\n' + m['content'] + '<|eot|>' }}"
               "{% endfor %}",
}
SYSTEM = {"role": "system", "content": "Be brief."}
USER, BOT, MORE = ({"role": "user", "content": "hi 'you' <s>"}, {"role": "assistant", "content": "Hello."},
                   {"role": "user", "content": " Go on.\n"})
TALKS = [[USER], [SYSTEM, USER], [USER, BOT, MORE], [SYSTEM, USER, BOT, MORE]]


def call(name, **arguments):
    return {"type": "function", "function": {"name": name, "arguments": arguments}}


FUNCTIONS = [{"type": "function", "function": {"name": "weather", "description": "Of a \"town\" – now", "parameters": {
    "type": "object", "properties": {"town": {"type": "string"}, "days": {"type": "integer", "minimum": 1}}, "required": ["town"]}}},
    {"type": "function", "function": {"name": "now"}}]
ONE = {"role": "assistant", "content": "", "tool_calls": [call("weather", town="Köln", days=2)]}
TWO = {"role": "assistant", "content": "I look.", "tool_calls": [call("now"), call("weather", town="<tool_call> \"x\"", days=1)]}
SUN, RAIN = {"role": "tool", "content": "{\"sun\": true}"}, {"role": "tool", "content": "<|im_end|> rain"}
TOOL_TALKS = [[USER], [SYSTEM, USER], [USER, ONE, SUN], [SYSTEM, USER, ONE, SUN, BOT, MORE], [USER, TWO, SUN, RAIN], [USER, ONE, RAIN, TWO, SUN, RAIN, BOT, MORE]]


THOUGHT = {"role": "assistant", "content": "<think>\n\nIt <is> sunny.\n</think>\n\nSun."}
THOUGHT_CALL = {**ONE, "content": "<think>\nI call.\n</think>"}
EMPTY, HALF_A_THOUGHT = {"role": "assistant", "content": "<think>\n\n</think>\n\nA"}, {"role": "assistant", "content": "a</think>b</think>\n\nc"}
THOUGHT_TALKS = [[USER, THOUGHT, MORE], [USER, THOUGHT_CALL, SUN], [USER, THOUGHT_CALL, SUN, THOUGHT, MORE, {**THOUGHT_CALL, **{"content": "x"}}, RAIN],
                 [USER, THOUGHT, USER, THOUGHT_CALL, SUN, THOUGHT_CALL, RAIN], [USER, BOT], [USER, THOUGHT], [USER, EMPTY, USER], [USER, EMPTY],
                 [USER, HALF_A_THOUGHT, USER], [USER, HALF_A_THOUGHT, BOT], [SYSTEM], [THOUGHT, USER], [USER, THOUGHT_CALL],
                 [USER, {**ONE, "content": "\nfoo"}, SUN], [USER, {**ONE, "content": "\nfoo"}], [USER, {**ONE, "content": "\n"}], [USER, BOT, BOT]]


def flat(talk, tools):
    """The messages of the C interface: definitions, and calls of their own."""
    out = [{"role": "tool_definition", "content": json.dumps(t, ensure_ascii=False)} for t in tools]
    for m in talk:
        out.append({"role": m["role"], "content": m["content"]})
        out += [{"role": "tool_call", "content": json.dumps(c["function"], ensure_ascii=False)} for c in m.get("tool_calls", [])]
    return out


def tool_rows(env, text):
    rows = []
    talks = TOOL_TALKS if "<tool_call>\\n{" in text and "tool_response" in text and "call.name" in text else []
    talks = talks + [t for t in THOUGHT_TALKS if talks or not any("tool_calls" in m for m in t)] if "'</think>'" in text else talks
    for talk in talks:
        for tools in (FUNCTIONS, []) if "tool" in text else ([],):
            want = env.from_string(text).render(messages=[{"tool_calls": [], **m} for m in talk], tools=tools, add_generation_prompt=True, bos_token="<s>", eos_token="</s>")
            rows.append({"messages": flat(talk, tools), "quiet": False, "text": want})
    return rows


def refuse(text):
    raise jinja2.TemplateError(text)


def main():
    env = jinja2.Environment(trim_blocks=True, lstrip_blocks=True)
    env.globals["raise_exception"] = refuse
    env.filters["tojson"] = lambda v, indent=None: json.dumps(v, ensure_ascii=False, indent=indent)
    out = []
    for name, text in TEMPLATES.items():
        rows = []
        for talk in TALKS:
            for quiet in (False, True) if "think" in text else (False,):
                row = {"messages": talk, "quiet": quiet}
                try:
                    more = {"enable_thinking": False} if quiet else {}
                    row["text"] = env.from_string(text).render(messages=talk, add_generation_prompt=True, bos_token="<s>", eos_token="</s>",
                                                               **more)
                except jinja2.TemplateError:
                    row["refused"] = True
                rows.append(row)
        rows += tool_rows(env, text)
        out.append({"name": name, "template": text, "rows": rows})
    for i, (name, old, new) in enumerate(OTHERS):
        assert old in TEMPLATES[name], (name, old)
        text = TEMPLATES[name].replace(old, new)
        talk = [SYSTEM, USER]
        want = env.from_string(text).render(messages=talk, add_generation_prompt=True)
        rows = [] if "I: " in new or "im_end|>\\n' }}{%- if" in new else [{"messages": talk, "quiet": False, "text": want}]
        rows.append({"messages": flat(talk, FUNCTIONS), "quiet": False, "refused": True})
        out.append({"name": f"other tools {i}: {new.strip()}", "template": text, "rows": rows})
    out += [{"name": name, "template": text, "rows": []} for name, text in UNKNOWN.items()]
    print(json.dumps(out, indent=1, ensure_ascii=False))


main()
