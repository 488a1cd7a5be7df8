# steno: python -m steno is the program. SPDX-License-Identifier: MIT
"""``python -m steno FILE...`` runs the program steno."""
from __future__ import annotations

import os
import sys

from ._errors import HubError
from ._names import program


def main() -> None:
    try:
        path = program()
    except HubError as e:
        sys.exit(f"steno: {e}")
    os.execv(path, [path, *sys.argv[1:]])


if __name__ == "__main__":
    main()
