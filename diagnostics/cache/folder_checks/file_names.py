"""What the names of a folder's files have in common."""

from __future__ import annotations

import re
from functools import lru_cache

_DIGITS = str.maketrans("0123456789", "#" * 10)
# Hashes stand for themselves: their digits count nothing.
_VARYING = re.compile(r"[#a-f]{8}[#a-f-]{0,64}|#+")


def pattern(name: str) -> str:
    """Returns the name with its numbers and hashes replaced: `sample_#.pt` for sample_00017.pt."""
    return _shortened(name.translate(_DIGITS))


@lru_cache(maxsize=256)  # names of one width are one here
def _shortened(name: str) -> str:
    return _VARYING.sub("#", name)
