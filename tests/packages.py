# steno tests: packages of other projects, and tests that cannot run here. SPDX-License-Identifier: MIT
import importlib
import os
import sys


def skip(why):
    print("skipped:", why)
    sys.exit(77)


def need(package):
    """The package, of this Python or of STENO_CLIENTS_PYTHON; without it the test is skipped."""
    try:
        return importlib.import_module(package)
    except ImportError:
        other = os.environ.pop("STENO_CLIENTS_PYTHON", None)
        if other:
            os.execv(other, [other, "-B", *sys.argv])
        skip(f"no package {package}; STENO_CLIENTS_PYTHON names a Python that has it")
