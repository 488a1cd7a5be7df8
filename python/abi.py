# steno: python/steno/_abi.py from the public headers. SPDX-License-Identifier: MIT
#
# abi.py CC          prints the file; CC is the C compiler; the version is that of CMakeLists.txt
# abi.py CC --check  compares it with the stored file: exit 1 and the differing lines
#
# Names come from the headers, figures from the compiler: a C program prints the size of every struct, the offset and size of every
# field, and the value of every enumerator.
import difflib
import os
import re
import subprocess
import sys
import tempfile

SOURCE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
HEADERS = ("include/steno/steno.h", "include/steno/media.h", "include/steno/output.h", "include/steno/live.h", "python/prefix.h")
STORED = os.path.join(SOURCE, "python", "steno", "_abi.py")
NUMBERS = {"int": "i4", "int32_t": "i4", "uint32_t": "u4", "int64_t": "i8", "uint64_t": "u8", "size_t": "u8", "float": "f4", "double": "f8"}
LETTERS = {"i4": "i", "u4": "I", "i8": "q", "u8": "Q", "f4": "f", "f8": "d"}


def read_version():
    with open(os.path.join(SOURCE, "CMakeLists.txt"), encoding="utf-8") as f:
        return re.search(r"project\(steno VERSION ([0-9.]+)", f.read())[1]


def header_text():
    """All headers without comments and lines of the preprocessor."""
    text = ""
    for name in HEADERS:
        with open(os.path.join(SOURCE, name), encoding="utf-8") as f:
            text += f.read()
    text = re.sub(r"/\*.*?\*/", " ", text, flags=re.S)
    text = re.sub(r"//[^\n]*", " ", text)
    return re.sub(r"^\s*#(?:[^\n\\]|\\\n)*$", "", text.replace("\\\n", " "), flags=re.M)


def field_rows(body):
    """(name, code) of each field; codes are those of NUMBERS, z: a text, p: another pointer, sN: characters, CODE*N: an array."""
    rows = []
    for line in body.split(";"):
        line = " ".join(line.split())
        if not line:
            continue
        call = re.match(r".*?\(\*(\w+)\)\s*\(", line)
        if call:
            rows.append((call[1], "p"))
            continue
        kind, names = re.match(r"((?:const )?(?:struct )?\w+(?: const)?)\s*(.*)", line).groups()
        for name in names.split(","):
            array = re.match(r"\s*(\w+)\[(\w+)\]$", name)
            if "*" in names.split(",")[0] and "*" in name or name.count("*"):
                text = kind == "const char" and name.count("*") == 1 and "const*" not in name.replace(" ", "")
                rows.append((name.replace("*", " ").split()[-1], "z" if text else "p"))
            elif array:
                rows.append((array[1], "s" + array[2] if kind == "char" else NUMBERS[kind] + "*" + array[2]))
            else:
                rows.append((name.strip(), NUMBERS.get(kind, "i4" if kind.startswith("enum") else kind)))
    return rows


def read_structs(text):
    structs = {}
    for body, name in re.findall(r"typedef struct \w+ \{(.*?)\}\s*(steno_\w+);", text, flags=re.S):
        structs[name] = field_rows(body)
    return structs


def read_enums(text):
    enums = {}
    for name, body in re.findall(r"enum (\w*)\s*\{(.*?)\};", text, flags=re.S):
        enums.setdefault(name or "steno_media_number", []).extend(re.findall(r"\b(STENO_[A-Z0-9_]+)\b\s*(?:=[^,]*)?,?", body))
    return enums


def letter_of(kind):
    kind = re.sub(r"\benum \w+", "int", kind)
    kind = " ".join(kind.replace("*", " * ").split())
    if kind in ("void", ""):
        return "v"
    if "(" in kind or "[" in kind or kind.count("*") > 1 or "*" in kind and not kind.startswith("const char *"):
        return "p"
    if "*" in kind:
        return "z"
    return LETTERS[NUMBERS[kind.replace("const ", "").split()[0]]]


def split_arguments(text):
    parts, depth, start = [], 0, 0
    for i, c in enumerate(text + ","):
        depth += (c == "(") - (c == ")")
        if c == "," and depth == 0:
            parts.append(text[start:i].strip())
            start = i + 1
    return [p for p in parts if p not in ("void", "")]


def read_functions(text):
    functions = {}
    for head, name, arguments in re.findall(r"STENO_API\s+([^;{}()]*?)\b(steno_\w+)\s*\(((?:[^;()]|\([^;()]*\))*)\)\s*;", text):
        code = ""
        for argument in split_arguments(arguments):
            bare = argument if "(" in argument else re.sub(r"\b\w+$", "", argument) if not argument.endswith("*") else argument
            code += letter_of(bare if bare.strip() else argument)
        functions[name] = letter_of(head) + ":" + code
    return functions


def figures(cc, structs, enums):
    """{"struct": size, "struct.field": (offset, size), "ENUMERATOR": value} as the compiler has them."""
    lines = ["#include <stddef.h>", "#include <stdio.h>"] + [f"#include \"{os.path.join(SOURCE, h)}\"" for h in HEADERS]
    lines.append("int main(void)\n{")
    for name, fields in structs.items():
        lines.append(f'    printf("{name} %zu\\n", sizeof({name}));')
        for field, _ in fields:
            lines.append(f'    printf("{name}.{field} %zu %zu\\n", offsetof({name}, {field}), sizeof((({name} *)0)->{field}));')
    for names in enums.values():
        lines += [f'    printf("{name} %d\\n", (int){name});' for name in names]
    lines.append("    return 0;\n}\n")
    with tempfile.TemporaryDirectory() as folder:
        source, program = os.path.join(folder, "layout.c"), os.path.join(folder, "layout")
        with open(source, "w", encoding="utf-8") as f:
            f.write("\n".join(lines))
        subprocess.run([*cc.split(), "-I" + os.path.join(SOURCE, "include"), source, "-o", program], check=True)
        out = subprocess.run([program], check=True, capture_output=True, text=True).stdout
    return {words[0]: tuple(map(int, words[1:])) for words in map(str.split, out.splitlines())}


def size_of(code):
    if code in ("z", "p"):
        return 8
    if code[0] == "s":
        return int(code[1:])
    kind, _, n = code.partition("*")
    return int(kind[1:]) * int(n or 1)


def make(cc):
    text = header_text()
    structs, enums, functions = read_structs(text), read_enums(text), read_functions(text)
    found = figures(cc, structs, enums)
    out = ["# steno: layout of the public headers. SPDX-License-Identifier: MIT", "#",
           "# Written by python/abi.py; a test compares it with the headers and with the compiler. A field is NAME:KIND@OFFSET.", ""]
    out += ["from __future__ import annotations", "", f'VERSION = "{read_version()}"', "", "STRUCTS: dict[str, tuple[int, str]] = {"]
    for name, fields in structs.items():
        row = []
        for field, code in fields:
            offset, size = found[f"{name}.{field}"]
            assert size == size_of(code), f"{name}.{field}: {code} has {size_of(code)} bytes, the compiler {size}"
            row.append(f"{field}:{code}@{offset}")
        out += [f'    "{name}": ({found[name][0]}, (']
        line = ""
        for part in row:
            if len(line) + len(part) > 120:
                out.append(f'        "{line}"')
                line = ""
            line += part + " "
        out += [f'        "{line.rstrip()}"', "    )),"]
    out += ["}", "", "FUNCTIONS: dict[str, str] = {"]
    out += [f'    "{name}": "{code}",' for name, code in functions.items()]
    out += ["}", "", "ENUMS: dict[str, dict[str, int]] = {"]
    for name, names in enums.items():
        out.append(f'    "{name}": {{')
        out += [f'        "{n}": {found[n][0]},' for n in names]
        out.append("    },")
    return "\n".join(out + ["}", ""])


def main(cc, check=None):
    text = make(cc)
    if check is None:
        sys.stdout.write(text)
        return 0
    with open(STORED, encoding="utf-8") as f:
        stored = f.read()
    if stored == text:
        print(f"{len(read_structs(header_text()))} structs and {len(read_functions(header_text()))} functions agree")
        return 0
    sys.stdout.writelines(difflib.unified_diff(stored.splitlines(True), text.splitlines(True), "python/steno/_abi.py", "the headers"))
    print("python/steno/_abi.py is old: python3 python/abi.py cc >python/steno/_abi.py")
    return 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
