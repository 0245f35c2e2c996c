"""Which lines of a common output are which rank's: torch, torchrun and srun put the rank before each. Pure."""

from __future__ import annotations

import re

_RANK_PREFIX = re.compile(r"^\[(?:rank|default)(?P<rank>\d{1,6})\]:?\s?|^(?P<label>\d{1,5}): ")
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
