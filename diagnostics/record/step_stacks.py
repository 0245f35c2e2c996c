"""Where processes were seen while they trained slowly: stacks from outside, `record/captures/step-stacks.json`.

{"PID-START": [[times seen, [[file, line, function], ...]], ...]}, frames of the main thread, innermost first. The file
is untrusted: what has another form is left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from diagnostics.core import untrusted_json
from diagnostics.core.frame import Frame
from diagnostics.core.frame_owners import NOWHERE, Homes
from diagnostics.record.agent_bytes import printable

FILE_NAME = "step-stacks.json"
MOST_FRAMES, MOST_STACKS = 64, 64
_MOST_PROCESSES = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenStack:
    """One stack of the main thread, and how often it was seen."""

    count: int
    frames: tuple[Frame, ...]  # innermost first


def step_stacks_of(text: str, homes: Homes = NOWHERE) -> Mapping[str, tuple[SeenStack, ...]]:
    """Returns the stacks by "PID-START", most frequent first."""
    try:
        value = untrusted_json.loads(text) if text else {}
    except ValueError:
        return {}
    if not isinstance(value, dict):
        return {}
    return {
        name: tuple(sorted(_stacks(told, homes), key=lambda one: -one.count))
        for name, told in list(value.items())[:_MOST_PROCESSES]
        if isinstance(name, str) and isinstance(told, list)
    }


def _stacks(value: list[Any], homes: Homes) -> Iterator[SeenStack]:
    for item in value[:MOST_STACKS]:
        if isinstance(item, list) and len(item) == 2 and isinstance(item[0], int) and isinstance(item[1], list):
            yield SeenStack(count=max(0, min(item[0], 1 << 20)), frames=homes.kept(_frames(item[1])))


def _frames(value: list[Any]) -> Iterator[Frame]:
    for item in value[:MOST_FRAMES]:
        if not (isinstance(item, list) and len(item) == 3):
            continue
        file, line, function = item
        if isinstance(file, str) and isinstance(line, int) and isinstance(function, str):
            yield Frame(file=_shown(file), line=line, function=_shown(function))


def _shown(text: str) -> str:
    return printable(text.encode("utf-8", "replace"))
