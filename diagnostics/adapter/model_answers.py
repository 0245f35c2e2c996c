"""What the ranks answered to `model`: parameters, bytes and seconds, as far as each of them got. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from diagnostics.adapter.answers import answer_file, read_json
from diagnostics.core.wording import number


@dataclass(frozen=True, slots=True, kw_only=True)
class BuiltModule:
    """One module of the job: its dotted path, "" or a stage's name for the outermost."""

    path: str
    class_name: str
    seconds: float
    bytes: int
    shapes: str  # of its own parameters, "" where the adapter does not tell


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelAnswer:
    """One rank's answer; `phases` are those it finished, in order."""

    rank: int
    parameters: int
    bytes: int
    phases: tuple[tuple[str, float], ...]
    modules: tuple[BuiltModule, ...]

    def seconds_of(self, phase: str) -> float:
        """Seconds spent in phases of this name, also where a stage's name stands before it."""
        return sum(seconds for name, seconds in self.phases if name == phase or name.endswith(f": {phase}"))


def model_answers(record_dir: Path, nproc: int) -> list[ModelAnswer | None]:
    """Returns the answer of each rank, None for a rank that left none."""
    template = str(answer_file(record_dir, "model"))
    return [_answer(rank, read_json(Path(template.format(rank=rank)))) for rank in range(nproc)]


def _answer(rank: int, answer: Mapping[str, Any] | None) -> ModelAnswer | None:
    if answer is None:
        return None
    return ModelAnswer(
        rank=rank,
        parameters=int(number(answer, "parameters") or 0),
        bytes=int(number(answer, "bytes") or 0),
        phases=tuple((str(row.get("phase", "")), number(row, "seconds") or 0.0) for row in _rows(answer, "phases")),
        modules=tuple(_module(row) for row in _rows(answer, "modules")),
    )


def _rows(answer: Mapping[str, Any], key: str) -> Sequence[Mapping[str, Any]]:
    rows = answer.get(key)
    return [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []


def _module(row: Mapping[str, Any]) -> BuiltModule:
    return BuiltModule(
        path=str(row.get("path", "")),
        class_name=str(row.get("class", "")),
        seconds=number(row, "seconds") or 0.0,
        bytes=int(number(row, "bytes") or 0),
        shapes=str(row.get("shapes", "")),
    )
