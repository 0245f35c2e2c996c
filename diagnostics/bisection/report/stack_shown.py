"""A stack or traceback without what the doctor and torch put around the user's calls. Pure."""

from __future__ import annotations

import re

from diagnostics.core.own_folders import AGENT, CHILDREN

OURS = (f"{CHILDREN}/", f"{AGENT}/")
AROUND = ("/torch/nn/modules/module.py",)  # two frames a module, which say nothing
FRAME = re.compile(r'^\s*(?:File ")?(?P<file>/[^":]+)(?:", line |:)\d+')
MOST = 40


def shown_stack(text: str) -> list[str]:
    """Returns the lines worth reading, at most MOST: the innermost frames of a stack, the end of a traceback."""
    lines = text.rstrip().splitlines()
    kept, left_out = [], False
    for line in lines:
        frame = FRAME.match(line)
        if frame is not None:
            left_out = frame["file"].startswith(OURS) or frame["file"].endswith(AROUND)
        elif not line.startswith("    "):  # code and its marks belong to the frame above them
            left_out = False
        if not left_out:
            kept.append(line)
    is_traceback = any(line.startswith("Traceback ") for line in lines)
    return kept[-MOST:] if is_traceback else kept[:MOST]
