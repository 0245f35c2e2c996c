"""What a job said of its own work: one that tells that nothing was left to do, or to train, does not lie. Pure."""

from __future__ import annotations

import re

_TOLD = re.compile(
    r"\b(?:0|zero|no) (?:more )?(?:steps|epochs)\b|\bno (?:steps?|epochs?) (?:is|are|was|were) left\b"
    r"|\bnothing (?:is |was )?(?:left )?to (?:do|train)\b|\bnothing left\b"
    r"|\balready (?:been )?(?:finished|completed?|trained|done|reached|converged)\b",
    re.IGNORECASE,
)


def says_nothing_is_left(output: str) -> bool:
    """Whether a job's output says that no step was left to make, or that there is nothing to train."""
    return _TOLD.search(output) is not None
