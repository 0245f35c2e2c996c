"""A recording of a healthy or partial run: what was constructed with what, and what each module took and gave."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Construction:
    """One constructor that was called; arguments as `children/trial/arguments.py` describes them."""

    name: str  # "package.module.Class#2"
    inside: str  # the constructor that called it
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]
    finished: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ModuleCall:
    """One call of a module; structures as in `children/trial/structures.py`. `output` is None where it had no end."""

    args: Mapping[str, Any]
    kwargs: Mapping[str, Any]
    output: Mapping[str, Any] | None
    training: bool = True
    stored: Path | None = None  # where the numbers lie that the structures refer to


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """All of it; constructions in their order, calls by dotted path in theirs."""

    constructions: Mapping[str, Construction] = field(default_factory=dict)
    calls: Mapping[str, tuple[ModuleCall, ...]] = field(default_factory=dict)

    def call_of(self, path: str) -> ModuleCall | None:
        """Returns the call that did not come to its end, else the first one."""
        calls = self.calls.get(path, ())
        return next((call for call in calls if call.output is None), calls[0] if calls else None)


def read_recording(file: Path | None) -> Recording:
    """Returns what a file tells, nothing where there is none; its last line may have been cut off."""
    made: dict[str, dict[str, Any]] = {}
    finished: set[str] = set()
    calls: dict[str, dict[int, dict[str, Any]]] = {}
    outputs: dict[int, Any] = {}
    for line in _lines(file):
        if "building" in line:
            made[line["building"]] = line
        elif "built" in line:
            finished.add(line["built"])
        elif "enter" in line:
            calls.setdefault(line["enter"], {})[line["number"]] = line
        elif "leave" in line:
            outputs[line["leave"]] = line.get("output")
    return Recording(
        constructions={name: _construction(line, name in finished) for name, line in made.items()},
        calls={
            path: tuple(_call(line, outputs.get(number), file) for number, line in entered.items())
            for path, entered in calls.items()
        },
    )


def _construction(line: Mapping[str, Any], finished: bool) -> Construction:
    return Construction(
        name=line["building"],
        inside=line.get("inside", ""),
        args=tuple(line.get("args", ())),
        kwargs=line.get("kwargs", {}),
        finished=finished,
    )


def _call(line: Mapping[str, Any], output: Any, file: Path | None) -> ModuleCall:
    stored = Path(f"{file}.d") / f"enter-{line['number']}.pt"
    return ModuleCall(
        args=line["args"],
        kwargs=line["kwargs"],
        output=output,
        training=bool(line.get("training", True)),
        stored=stored if stored.is_file() else None,
    )


def _lines(file: Path | None) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    try:
        text = file.read_text(encoding="utf-8") if file is not None else ""
    except OSError:
        return found
    for line in text.splitlines():
        try:
            found.append(json.loads(line))
        except ValueError:
            break
    return [line for line in found if isinstance(line, dict)]


def merged(recordings: Sequence[Recording]) -> Recording:
    """Returns one recording of several, earlier ones first; a call that came to its end before one that did not."""
    constructions: dict[str, Construction] = {}
    calls: dict[str, tuple[ModuleCall, ...]] = {}
    for one in recordings:
        constructions = {**one.constructions, **constructions}
        for path, found in one.calls.items():
            known = calls.get(path)
            if known is None or (any(call.output is None for call in known) and _whole(found)):
                calls[path] = found
    return Recording(constructions=constructions, calls=calls)


def _whole(calls: tuple[ModuleCall, ...]) -> bool:
    return all(call.output is not None for call in calls)
