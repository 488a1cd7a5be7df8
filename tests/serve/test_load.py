# steno: under mixed load every answer is the program's, and nothing is left behind. SPDX-License-Identifier: MIT
import os
import subprocess
import sys


def load(*options):
    sys.exit(subprocess.run([sys.executable, "-B", os.path.join("script", "load"), "--demo", "--quick", *options]).returncode)


if __name__ == "__main__":
    load("--part", "mix")
