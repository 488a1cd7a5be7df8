# steno: models by name, through the program. SPDX-License-Identifier: MIT
"""A model's name is looked up by the program ``steno``, which shares its caches and downloads with other clients of the hubs."""
from __future__ import annotations

import os
from typing import Any, Mapping, Optional, Sequence

from ._errors import HubError


def program() -> str:
    """The path of the program: STENO_PROGRAM, else that of the package, else the one on PATH."""
    inside = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", "steno")
    found = os.environ.get("STENO_PROGRAM") or (inside if os.access(inside, os.X_OK) else None)
    if not found:
        from shutil import which
        found = which("steno")
    if not found:
        raise HubError("the program steno is not installed with this package and not on PATH; give the path of a model file", "EIO")
    return found


def _run(arguments: Sequence[str], env: Mapping[str, str], quiet: bool) -> tuple[int, str, str]:
    import subprocess
    import sys
    shown = not quiet and sys.stderr is not None and sys.stderr.isatty()
    done = subprocess.run([program(), *arguments], env={**os.environ, **env}, stdout=subprocess.PIPE,
                          stderr=None if shown else subprocess.PIPE, stdin=subprocess.DEVNULL)
    return done.returncode, done.stdout.decode("utf-8", "replace"), (done.stderr or b"").decode("utf-8", "replace")


def _reason(code: int, text: str) -> str:
    lines = [line for line in text.splitlines() if line.strip()]
    last = lines[-1] if lines else f"steno models ended with exit code {code}"
    return last[len("steno: "):] if last.startswith("steno: ") else last


def find_model(name: Any, *, download: bool = True, revision: Optional[str] = None, cache_dir: Any = None, hub: str = "hf",
               token: Optional[str] = None) -> str:
    """The path of a model: of a file or folder, or of a name, which is downloaded unless it is on this machine."""
    path = os.fsdecode(name)
    if os.path.exists(path):
        return path
    if path.startswith(("/", "./", "../", "~")):
        raise FileNotFoundError(2, "no such model", path)
    env: dict[str, str] = {}
    if cache_dir is not None:
        env["HF_HUB_CACHE"] = os.path.abspath(os.fsdecode(cache_dir))
    if token:
        env["HF_TOKEN"] = token
    if revision and "/" not in path:
        raise ValueError(f"revision: {path} is a name of steno's table; give ORG/REPO")
    full = f"{path}@{revision}" if revision else path
    code, out, err = _run(["models", "where", full], env, True)
    if code == 0 and out.strip():
        return out.splitlines()[-1]
    if not download:
        raise HubError(_reason(code, err), "EIO")
    code, out, err = _run(["models", "pull", "--hub", hub, full], env, False)
    if code != 0 or not out.strip():
        raise HubError(_reason(code, err), "EIO")
    return out.splitlines()[-1]


def models(everything: bool = True) -> list[dict[str, Any]]:
    """The models on this machine and, unless ``everything`` is false, those that can be downloaded by name."""
    import json
    code, out, err = _run(["models", "list", "--json", *(["--all"] if everything else [])], {}, True)
    if code != 0:
        raise HubError(_reason(code, err), "EIO")
    return [json.loads(line) for line in out.splitlines() if line.startswith("{")]
