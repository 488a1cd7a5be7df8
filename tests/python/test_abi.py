# steno tests: the package's layout file, the headers and the library agree. SPDX-License-Identifier: MIT
import ctypes
import os
import re
import subprocess
import sys
import unittest

import recordings as r
from steno import _abi, _native, _params

HEADERS = [os.path.join(r.SOURCE, "include/steno", h + ".h") for h in ("steno", "media", "output", "live")]
HEADERS.append(os.path.join(r.SOURCE, "python/prefix.h"))


class Abi(unittest.TestCase):
    def test_the_layout_file_is_what_headers_and_compiler_give(self):
        done = subprocess.run([sys.executable, "-B", os.path.join(r.SOURCE, "python/abi.py"), os.environ.get("CC", "cc"), "--check"],
                              stdout=subprocess.PIPE, text=True)
        self.assertEqual(done.returncode, 0, done.stdout)

    def test_every_struct_function_and_enumerator_of_the_headers_is_in_it(self):
        text = ""
        for header in HEADERS:
            with open(header, encoding="utf-8") as f:
                text += f.read()
        bare = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
        functions = set(re.findall(r"\b(steno_\w+)\(", "".join(re.findall(r"^STENO_API[^;]*;", bare, flags=re.M))))
        self.assertEqual(functions, set(_abi.FUNCTIONS))
        self.assertEqual(set(re.findall(r"^\} (steno_\w+);", bare, flags=re.M)), set(_abi.STRUCTS))
        constants = set(re.findall(r"^\s+(STENO_[A-Z0-9_]+)(?: =[^,}]*)?[,\n]", bare, flags=re.M))
        self.assertLessEqual(constants, {name for names in _abi.ENUMS.values() for name in names})
        self.assertGreater(len(constants), 80)

    def test_ctypes_puts_each_field_where_the_compiler_does(self):
        for name in _abi.STRUCTS:
            made = _native.struct_type(name)
            for field, _, offset in _native.field_rows(name):
                self.assertEqual(getattr(made, field).offset, offset, f"{name}.{field}")

    def test_the_library_has_every_function(self):
        for name in _abi.FUNCTIONS:
            self.assertTrue(callable(getattr(_native.lib, name)), name)

    def test_structs_of_parameters_keep_their_size(self):
        for name in _abi.STRUCTS:
            if name + "_fill" in _abi.FUNCTIONS:
                self.assertEqual(_native.new(name).size, ctypes.sizeof(_native.struct_type(name)), name)

    def test_the_librarys_table_of_parameters_has_the_fields_of_the_options(self):
        for call, struct in (("TRANSCRIBE", "steno_transcribe_params"), ("FIND_SPEECH", "steno_vad_params"), ("OPEN", "steno_model_params"),
                             ("EMBED", "steno_embed_params"), ("GENERATE", "steno_generate_params")):
            row, i, table = _native.new("steno_param"), 0, {}
            while _native.lib.steno_param_get(None, _abi.ENUMS["steno_call"]["STENO_CALL_" + call], i, ctypes.byref(row)) == 0:
                table[row.name.decode()] = (row.kind, row.offset)
                i += 1
            offsets = {field: offset for field, _, offset in _native.field_rows(struct)}
            for name, (kind, offset) in table.items():
                self.assertEqual(offsets[name], offset, name)
            callback = _abi.ENUMS["steno_param_kind"]["STENO_PARAM_CALL"]
            options = {name for name, (kind, _) in table.items() if kind != callback}
            self.assertEqual(options - set(_params.fields_of(struct)), {"n_resume"} & options, call)

    def test_choices_are_the_enumerators(self):
        for field, (enum, prefix) in _params.CHOICES.items():
            for name, value in _abi.ENUMS[enum].items():
                self.assertEqual(_params.choice(field, name[len(prefix):].lower()), value)


if __name__ == "__main__":
    unittest.main()
