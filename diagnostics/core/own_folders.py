"""Where the doctor's own files lie: the programs that it starts and the agent that it takes along."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import diagnostics

DOCTOR = Path(diagnostics.__file__).resolve().parent
AGENT = DOCTOR / "agent"
CHILDREN = DOCTOR / "children"
_FRAME = re.compile(r'^\s{0,40}(?:File ")?(?P<file>/[^":]{1,4096})(?:", line |:)\d{1,9}')


def without_own_frames(text: str, around: Sequence[str] = ()) -> list[str]:
    """Returns the lines of a stack or traceback but for the doctor's own frames and those in files that end so."""
    kept, left_out = [], False
    for line in text.rstrip().splitlines():
        frame = _FRAME.match(line)
        if frame is not None:
            left_out = frame["file"].startswith((f"{CHILDREN}/", f"{AGENT}/")) or frame["file"].endswith(tuple(around))
        elif not line.startswith("    "):  # code and its marks belong to the frame above them
            left_out = False
        if not left_out:
            kept.append(line)
    return kept
