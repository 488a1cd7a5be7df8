# steno tests: the notebook of doc/examples runs, and prints what the package returns. SPDX-License-Identifier: MIT
import os
import unittest

import recordings as r

nbformat = r.need("nbformat")
nbclient = r.need("nbclient")
r.need("ipykernel")


class Notebook(unittest.TestCase):
    def test_all_cells_run(self):
        os.environ["STENO_SOURCE"] = os.path.abspath(r.SOURCE)
        stored = nbformat.read(os.path.join(r.SOURCE, "doc/examples/python/steno.ipynb"), as_version=4)
        nbformat.validate(stored)
        self.assertEqual([cell for cell in stored.cells if cell.get("outputs")], []) # outputs are not stored
        nbclient.NotebookClient(stored, timeout=120, kernel_name="python3").execute()
        printed = "".join(out.get("text", "") + str(out.get("data", {}).get("text/plain", ""))
                          for cell in stored.cells for out in cell.get("outputs", []))
        for expected in (" zero nine one eight.", "00:00:00,000 --> 00:00:01,660", "missing.wav: No such file", "(' seven.', ", "('en', ["):
            self.assertIn(expected, printed)


if __name__ == "__main__":
    unittest.main()
