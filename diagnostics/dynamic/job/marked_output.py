"""Which lines of a common output are which rank's: torch, torchrun and srun put the rank before each. Pure."""

from __future__ import annotations

import re

_RANK_PREFIX = re.compile(r"^\[(?:rank|default)(?P<rank>\d{1,6})\]:?\s?|^(?P<label>\d{1,5}): ")
_HEAD = "Traceback (most recent call last):"
_LINKS = (
    "The above exception was the direct cause of the following exception:",
    "During handling of the above exception, another exception occurred:",
)
_LABELLED_LINES = 3  # srun -l labels every line; a single "2: " is somebody's text


def lines_by_rank(text: str) -> tuple[dict[int, str], str]:
    """Returns the lines of each rank that are marked as its own, and all other lines."""
    ranks: dict[int, list[str]] = {}
    rest: list[str] = []
    lines = text.split("\n")
    labels = sum(1 for line in lines if (found := _RANK_PREFIX.match(line)) and found["label"])
    for line in lines:
        found = _RANK_PREFIX.match(line)
        labelled = found is not None and (found["rank"] is not None or labels >= _LABELLED_LINES)
        if found is not None and labelled:
            ranks.setdefault(int(found["rank"] or found["label"]), []).append(line[found.end() :])
        else:
            rest.append(line)
    return {rank: "\n".join(lines) for rank, lines in ranks.items()}, "\n".join(rest)


def failures_apart(text: str) -> list[str]:
    """Returns the text from each traceback to the next one that is no part of its chain."""
    blocks: list[list[str]] = []
    linked = False
    for line in text.split("\n"):
        if line.startswith(_HEAD) and not linked:
            blocks.append([])
        if blocks:
            blocks[-1].append(line)
        linked = line in _LINKS or (linked and not line.startswith(_HEAD))
    return ["\n".join(block) for block in blocks]
