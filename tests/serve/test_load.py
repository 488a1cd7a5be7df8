# steno: under mixed load every answer is the program's, and nothing is left behind. SPDX-License-Identifier: MIT
import os
import subprocess
import sys

STENO = os.environ["STENO"]
if b"Usage: steno serve" not in subprocess.run([STENO, "serve", "--help"], capture_output=True).stdout:
    print("skipped: this program has no verb serve")
    sys.exit(77)
sys.exit(subprocess.run([sys.executable, "-B", os.path.join("script", "load"), "--demo", "--quick"]).returncode)
