"""What a trainer's job adapter is asked and what it answers; see 'Job adapters' in ARCHITECTURE.md. Pure.

Answers come from a trainer that may be broken: everything is read defensively, and an answer that is
missing or of another form is None, never an exception.

What the ranks answered to `model`: parameters, bytes and seconds, as far as each of them got.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from diagnostics.adapter.description import JobDescription
from diagnostics.core.wording import number

USAGE_EXIT = 2  # of an adapter: this CONFIG is wrong, one sentence on stderr


@dataclass(frozen=True, slots=True, kw_only=True)
class FileTrouble:
    """A data file that could not be used: what is wrong and the command that helps."""

    path: str
    error: str
    kind: str = "unreadable"  # missing | truncated | nan | unreadable
    fix: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class DataAnswer:
    """One rank's answer to `data`: `epochs` holds its sample indices by epoch, in the order of reading."""

    rank: int
    dataset_size: int
    epochs: tuple[tuple[int, ...], ...]
    files: tuple[FileTrouble, ...]
    workers: int
    seconds: float
    planned: Mapping[int, int]  # how often each sample is due in an epoch; empty: every one once


def adapter_argv(python: str, job: JobDescription, verb: str, *options: str) -> list[str]:
    """Returns the command line that asks `verb` of the job's adapter."""
    overrides = [part for override in job.overrides for part in ("--set", override)]
    return [python, "-m", job.module, verb, str(job.config), *options, *overrides]


def read_answer(record_dir: Path, verb: str) -> Path:
    """Returns where an adapter's answer is kept between probes; `{rank}` is filled in by each rank."""
    ranked = "-{rank}" if verb in ("data", "model") else ""
    return record_dir / f"answer-{verb}{ranked}.json"


def read_json(path: Path) -> dict[str, Any] | None:
    """Returns the object in a JSON file, None where there is none."""
    try:
        answer = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return answer if isinstance(answer, dict) else None


def data_answers(record_dir: Path, nproc: int) -> list[DataAnswer | None]:
    """Returns the answer of each rank, None for a rank that left none."""
    template = str(read_answer(record_dir, "data"))
    return [_data_answer(rank, read_json(Path(template.format(rank=rank)))) for rank in range(nproc)]


def _data_answer(rank: int, answer: Mapping[str, Any] | None) -> DataAnswer | None:
    if answer is None:
        return None
    try:
        return DataAnswer(
            rank=rank,
            dataset_size=int(answer.get("dataset_size", 0)),
            epochs=tuple(tuple(int(index) for index in epoch["indices"]) for epoch in answer.get("epochs", ())),
            files=tuple(_trouble(file) for file in answer.get("files", ()) if file.get("error")),
            workers=int(answer.get("workers", 0)),
            seconds=float(answer.get("seconds", 0.0)),
            planned={int(index): int(times) for index, times in answer.get("planned", {}).items()},
        )
    except (AttributeError, KeyError, TypeError, ValueError):
        return None


def _trouble(file: Mapping[str, Any]) -> FileTrouble:
    return FileTrouble(
        path=str(file["path"]),
        error=str(file["error"]),
        kind=str(file.get("kind", "unreadable")),
        fix=str(file.get("fix", "")),
    )


def refusal(stderr: str) -> tuple[str, str]:
    """Returns the sentence of an adapter that refused its CONFIG, and the hint below it."""
    sentence, _, hint = stderr.strip().partition("\n")
    return sentence.removeprefix(
        "error: "
    ) or "the trainer refuses this configuration and does not say why", hint.strip()


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
    template = str(read_answer(record_dir, "model"))
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
