"""What the names of a folder's files have in common."""

from __future__ import annotations

import re

# Hashes stand for themselves: their digits count nothing.
_VARYING = re.compile(r"[0-9a-f]{8}[0-9a-f-]{0,64}|[0-9]+")


def pattern(name: str) -> str:
    """Returns the name with its numbers and hashes replaced: `sample_#.pt` for sample_00017.pt."""
    return _VARYING.sub("#", name)
