# steno: names of models and times for faster-whisper's interface. SPDX-License-Identifier: MIT
"""Names of models. A size name selects the model of steno's table, and so does the repository of a CTranslate2 model that is not on this
machine."""
from __future__ import annotations

import logging
import os
import shutil
from typing import List, Optional, Union

from .._errors import HubError
from .._names import find_model
from .._shared import NAMES, OWN_NAMES
from .._shared import format_timestamp as format_timestamp

SIZES = (*NAMES[:-2], "distil-large-v2", "distil-medium.en", "distil-small.en", "distil-large-v3", "distil-large-v3.5", *NAMES[-2:])


def available_models() -> List[str]:
    """The names of the models."""
    return list(SIZES)


def own_name(size_or_id: str) -> str:
    """The name that steno has for a model of faster-whisper."""
    name = size_or_id
    repo = size_or_id.partition("/")[2]
    if repo and repo.startswith(("faster-whisper-", "faster-distil-whisper-")):
        short = repo[len("faster-whisper-"):] if repo.startswith("faster-whisper-") else "distil-" + repo[len("faster-distil-whisper-"):]
        name = short if short in SIZES else name
    elif size_or_id == "distil-whisper/distil-large-v3.5-ct2":
        name = "distil-large-v3.5"
    return OWN_NAMES.get(name, name)


def only_model_in(path: str) -> str:
    """The file, if the path is a folder with one model file alone, as ``download_model`` makes it."""
    if os.path.isdir(path):
        names = os.listdir(path)
        if len(names) == 1 and names[0].endswith((".bin", ".gguf", ".pt")):
            return os.path.join(path, names[0])
    return path


def model_path(size_or_id: str, download: bool, cache_dir: Optional[str], revision: Optional[str],
               token: Union[bool, str, None]) -> str:
    if os.path.exists(size_or_id):
        return only_model_in(os.fsdecode(size_or_id))
    if "/" not in size_or_id and size_or_id not in SIZES:
        raise ValueError(f"Invalid model size '{size_or_id}', expected one of: {', '.join(SIZES)}")
    if "/" in size_or_id:
        try:
            return find_model(size_or_id, download=False, cache_dir=cache_dir, revision=revision)
        except HubError:
            pass
    return find_model(own_name(size_or_id), download=download, cache_dir=cache_dir, revision=revision,
                      token=token if isinstance(token, str) else None)


def download_model(size_or_id: str, output_dir: Optional[str] = None, local_files_only: bool = False, cache_dir: Optional[str] = None,
                   revision: Optional[str] = None, use_auth_token: Optional[Union[str, bool]] = None) -> str:
    """Download a model, unless it is on this machine, and return its path."""
    path = model_path(size_or_id, not local_files_only, cache_dir, revision, use_auth_token)
    if output_dir is None:
        return path
    os.makedirs(output_dir, exist_ok=True)
    if os.path.isdir(path):
        return str(shutil.copytree(path, output_dir, dirs_exist_ok=True))
    shutil.copy(path, os.path.join(output_dir, os.path.basename(path)))
    return output_dir


def get_logger() -> logging.Logger:
    return logging.getLogger("faster_whisper")


__all__ = ["available_models", "download_model", "format_timestamp", "get_logger"]
