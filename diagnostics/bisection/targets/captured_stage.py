"""Which of the stages that a captured run left is the one to go on with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from diagnostics.adapter.answers import read_json

TRAINED, TRAINABLE = 3, 2  # how surely a called module is the one that is trained, see agent/capturing/stages.py


@dataclass(frozen=True, slots=True, kw_only=True)
class CapturedStage:
    """One folder that a process of the run left."""

    folder: Path
    facts: Mapping[str, Any]
    weight: int  # how much it says; nothing below 2

    def usable(self, *, other_batch: bool = False) -> bool:
        """Returns whether a model was reached and captured, with its batch where there is no other one."""
        parts = self.facts.get("parts", ())
        has_batch = other_batch or "batch" in parts or self.facts.get("reached") != "call"
        return self.weight >= 2 and has_batch and ("model" in parts or "instance" in parts or self.told)

    @property
    def told(self) -> bool:
        """Whether it is said why the model is not there."""
        return bool(self.facts.get("problems"))


def best_stage(raw: Path, *, ended_well: bool) -> CapturedStage | None:
    """Returns the stage that tells most; where a run ended well, what was left open failed nobody."""
    found = []
    for path in sorted(raw.glob("*/*/capture.json")):
        facts = read_json(path)
        if facts is not None:
            found.append(CapturedStage(folder=path.parent, facts=facts, weight=_weight(facts, ended_well=ended_well)))
    return max(found, key=lambda stage: stage.weight, default=None)


def _weight(facts: Mapping[str, Any], *, ended_well: bool) -> int:
    is_open = bool(facts.get("open")) and not ended_well
    match facts.get("reached"):
        case "call":
            return {TRAINED: 6, TRAINABLE: 3}.get(facts.get("sure", 0), 2)
        case "construct":
            return 5 if is_open else 0
        case _:
            return 4 if is_open else 1
