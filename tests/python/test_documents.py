# steno tests: the examples of doc/python.md run and print what stands there. SPDX-License-Identifier: MIT
import doctest
import os
import unittest

import recordings as r


class Documents(unittest.TestCase):
    def test_examples_of_the_manual_run(self):
        os.chdir(r.SOURCE)
        failed, n = doctest.testfile(os.path.abspath("doc/python.md"), module_relative=False)
        self.assertEqual(failed, 0)
        self.assertGreater(n, 25)


if __name__ == "__main__":
    unittest.main()
