"""The first line of an error's text without what differs between two equal failures. Pure."""

from __future__ import annotations

import re

MAX_CHARACTERS = 300
_ADDRESS = re.compile(r"0x[0-9a-fA-F]+")
_TEMPORARY = re.compile(r"/(?:tmp|var/tmp|dev/shm)/[^\s'\",:;)\]]+")
_SHAPE = re.compile(r"(?<!\w)\d+(?:x\d+)+\b")
# The digits of a name stay: float16, mat2, ReluBackward0.
_NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?|(?<![A-Za-z_\d])\d+")
# "2, 4" and "2 3" of a list, "8x16" of a shape, "127.0.0.1": how many there are changes with the model.
_ROW = re.compile(r"#(?:(?:\s*,\s*|\s*x\s*|\s+|\.|:)#)+,?")
_BRACKETS = re.compile(r"[\[(]#?,?[\])]")


def plain_message(text: str) -> str:
    """Returns the first line that is not empty; numbers, shapes, addresses and temporary paths are "#"."""
    line = next((one.strip() for one in text.splitlines() if one.strip()), "")[: 4 * MAX_CHARACTERS]
    for pattern in (_ADDRESS, _TEMPORARY, _SHAPE, _NUMBER, _ROW, _BRACKETS):
        line = pattern.sub("#", line)
    return line[:MAX_CHARACTERS]
