"""What was tried, on disk: one line of JSON a case, so that a bisection that was stopped goes on where it was."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import Any

from diagnostics.bisection.case import Configuration, read_case
from diagnostics.bisection.trial import Failure, FailureKind, ModuleNode, Trial
from diagnostics.core.errors import from_os_error
from diagnostics.core.redaction import json_value

SCHEMA = 1
FAULT_OF_OURS = "the try itself is at fault, not the model"  # how such refusals begin: they are tried again


class TriesFile:
    """The trials of one bisection. Those tried with another torch, Python or source are set aside."""

    def __init__(self, path: Path, stamp: Mapping[str, str]) -> None:
        """`stamp` is what the results depend on beside the case. Raises DoctorError."""
        self._path = path
        self._stamp = dict(stamp)
        self.known: dict[str, Trial] = {}
        self.set_aside = ""  # why earlier tries do not count, "" where they do
        head, lines = _lines(path)
        if head is not None and head.get("stamp") == self._stamp and head.get("schema") == SCHEMA:
            self.known = {key: trial for line in lines for key, trial in _trials(line) if _counts(trial)}
            self._end_last_line()
        else:
            self.set_aside = self._difference(head)
            self._begin()

    def add(self, trial: Trial) -> None:
        """Keeps one trial. Raises DoctorError where it cannot be written."""
        self.known[trial.case.key] = trial
        self._append("a", {"key": trial.case.key, **json_value(_plain(trial))})

    def _begin(self) -> None:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        self._append("w", {"schema": SCHEMA, "stamp": self._stamp})

    def _end_last_line(self) -> None:
        """Gives a line that was cut off an end, so that the next one is whole."""
        if not self._path.read_bytes().endswith(b"\n"):
            with self._path.open("a", encoding="utf-8") as file:
                file.write("\n")

    def _append(self, mode: str, data: Mapping[str, Any]) -> None:
        try:
            with self._path.open(mode, encoding="utf-8") as file:
                file.write(json.dumps(data) + "\n")
        except OSError as error:
            raise from_os_error(error, action="cannot keep what was tried in", path=self._path) from error

    def _difference(self, head: Mapping[str, Any] | None) -> str:
        before = (head or {}).get("stamp")
        if not isinstance(before, dict):
            return ""
        names = [name for name in {**before, **self._stamp} if before.get(name) != self._stamp.get(name)]
        return f"{' and '.join(sorted(names))} changed since" if names else "they are of another version of the doctor"


def _lines(path: Path) -> tuple[dict[str, Any] | None, list[dict[str, Any]]]:
    """Returns the head and what follows; a last line that was torn by the end of the process is left out."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return None, []
    found = []
    for line in text.splitlines():
        try:
            one = json.loads(line)
        except ValueError:
            continue
        if isinstance(one, dict):
            found.append(one)
    return (found[0], found[1:]) if found and "stamp" in found[0] else (None, [])


def _plain(trial: Trial) -> dict[str, Any]:
    """Returns the trial as JSON."""
    data = asdict(replace(trial, failure=None))
    failure = {**asdict(trial.failure), "kind": trial.failure.kind.value} if trial.failure is not None else None
    return {**data, "case": trial.case.as_json(), "failure": failure}


def _trials(line: Mapping[str, Any]) -> list[tuple[str, Trial]]:
    """Returns the key and the trial of a line, nothing where it is none."""
    try:
        failure = line["failure"]
        trial = Trial(
            case=read_case(line["case"]),
            failure=_failure(failure) if failure is not None else None,
            refusal=str(line["refusal"]),
            hint=str(line["hint"]),
            seconds=float(line["seconds"]),
            runs=int(line["runs"]),
            failed=int(line["failed"]),
            tree=tuple(read_node(node) for node in line["tree"]),
            torch=str(line["torch"]),
        )
        return [(str(line["key"]), trial)]
    except (AttributeError, KeyError, TypeError, ValueError):
        return []


def _counts(trial: Trial) -> bool:
    return not trial.refusal.startswith(FAULT_OF_OURS)


def _failure(data: Mapping[str, Any]) -> Failure:
    values = {one.name: data[one.name] for one in fields(Failure) if one.name in data}
    lists = {name: tuple(values[name]) for name in ("places", "ranks")}
    return Failure(**{**values, **lists, "kind": FailureKind(data["kind"])})


def read_node(data: Mapping[str, Any]) -> ModuleNode:
    """Returns one module of a rank's answer. Raises KeyError, TypeError."""
    known = [(one.name, data[one.name]) for one in fields(ModuleNode) if one.name in data]
    values: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value for name, value in known}
    return ModuleNode(**values)


def known_case(file: TriesFile, case: Configuration) -> Trial | None:
    """Returns what is known of a case, with the case as it is asked: the file has it without secrets."""
    trial = file.known.get(case.key)
    return replace(trial, case=case) if trial is not None else None
