# steno: texts in one form, before their words are compared. SPDX-License-Identifier: MIT
"""Normalizers of openai-whisper's interface: ``EnglishTextNormalizer()(text)``, ``BasicTextNormalizer()(text)``."""
from .basic import BasicTextNormalizer
from .english import EnglishTextNormalizer

__all__ = ["BasicTextNormalizer", "EnglishTextNormalizer"]
