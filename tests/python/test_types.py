# steno tests: mypy and pyright accept the types of the package, both strictly. SPDX-License-Identifier: MIT
#
# pyright needs numpy and ray beside it; basedpyright is a pyright that brings its own node.
import importlib.util
import os
import subprocess
import sys
import unittest

import recordings as r

r.need("mypy")


class Types(unittest.TestCase):
    def check(self, *arguments):
        done = subprocess.run([sys.executable, "-m", *arguments], cwd=r.SOURCE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.assertEqual(done.returncode, 0, done.stdout[-3000:])

    def test_mypy_accepts_the_types(self):
        self.check("mypy", "--cache-dir", os.devnull)

    def test_pyright_accepts_the_types(self):
        missing = [name for name in ("basedpyright", "numpy", "ray") if importlib.util.find_spec(name) is None]
        if missing:
            self.skipTest(f"no package {missing[0]}")
        self.check("basedpyright", "--level", "error", "--pythonpath", sys.executable)


if __name__ == "__main__":
    unittest.main()
