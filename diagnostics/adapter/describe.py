"""Asks the trainer that understands a CONFIG what it is going to do; the doctor itself never reads CONFIG.

The trainer's package registers an adapter, see 'Job adapters' in ARCHITECTURE.md. Adapters are looked for
under the job's Python, in a child: that may be another environment than the doctor's.
"""

from __future__ import annotations

import json
import types
from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args, get_origin, get_type_hints

from diagnostics.adapter.description import JobDescription
from diagnostics.core.errors import USAGE_EXIT, DoctorError, UsageError
from diagnostics.machine.facts import ChildTimeout, MachineError

if TYPE_CHECKING:
    from diagnostics.machine.contract import Child

GROUP = "ups_doctor.jobs"
# Runs under the job's Python, 3.8 or newer: entry_points() takes no group before 3.10.
LIST_ADAPTERS = f"""
import importlib.metadata, json
points = importlib.metadata.entry_points()
found = points.select(group={GROUP!r}) if hasattr(points, "select") else points.get({GROUP!r}, ())
print(json.dumps(sorted({{point.name: point.value for point in found}}.items())))
"""


def describe(
    config: Path, overrides: Sequence[str], *, python: str, child: Child, deadline_s: float = 60.0
) -> JobDescription:
    """Returns what the first adapter that accepts CONFIG says about it.

    Raises UsageError where CONFIG does not exist, no adapter is found, or every adapter refuses it;
    DoctorError where an adapter crashes or gives no answer.
    """
    if not config.exists():
        raise UsageError(f"{config}: no such file", hint=f"check the spelling: ls -l {config.parent}")
    refusals: list[DoctorError] = []
    for name, module in adapters(python, child, deadline_s):
        try:
            return _ask(name, module, config, overrides, python, child, deadline_s)
        except DoctorError as refusal:  # another trainer's adapter may still know this CONFIG
            refusals.append(refusal)
    raise _none_accepts(config, python, refusals)


def _none_accepts(config: Path, python: str, refusals: Sequence[DoctorError]) -> DoctorError:
    if len(refusals) == 1:
        return refusals[0]
    if refusals:
        return UsageError(f"no job adapter accepts {config}", hint="\n".join(error.message for error in refusals))
    return UsageError(
        f"{python} knows no trainer that can read {config}: no package there registers an entry point in '{GROUP}'",
        hint="name the job's own Python with --python, or examine any script: ups-doctor preflight --script train.py",
    )


def adapters(python: str, child: Child, deadline_s: float) -> list[tuple[str, str]]:
    """Returns name and module of each adapter installed under `python`."""
    code, output, said = _run([python, "-c", LIST_ADAPTERS], "the list of job adapters", child, deadline_s)
    try:
        return [(name, value.partition(":")[0]) for name, value in json.loads(output)]
    except ValueError:
        raise DoctorError(f"{python} cannot list its packages (exit code {code}): {_last(said)}") from None


def _ask(
    name: str, module: str, config: Path, overrides: Sequence[str], python: str, child: Child, deadline_s: float
) -> JobDescription:
    sets = [word for override in overrides for word in ("--set", override)]
    argv = [python, "-m", module, "describe", str(config), *sets]
    code, output, said = _run(argv, f"the job adapter '{name}'", child, deadline_s)
    if code == USAGE_EXIT:
        message, _, hint = (said or f"the job adapter '{name}' refuses {config}").partition("\n")
        raise UsageError(message.removeprefix("error: "), hint="\n".join(map(str.strip, hint.splitlines())))
    if code != 0:
        raise DoctorError(
            f"the job adapter '{name}' ended with exit code {code}: {_last(said)}", hint=f"see it all: {' '.join(argv)}"
        )
    try:
        return read_description(json.loads(output), module=module, config=config, overrides=overrides)
    except (ValueError, TypeError) as error:
        raise DoctorError(
            f"the job adapter '{name}' gave no job description: {error}", hint=f"see it all: {' '.join(argv)}"
        ) from error


def _run(argv: Sequence[str], what: str, child: Child, deadline_s: float) -> tuple[int, str, str]:
    try:
        result = child.run(argv, deadline_s=deadline_s)
    except MachineError as error:
        raise DoctorError(f"{what} cannot be asked: {error}") from error
    except ChildTimeout as late:
        raise DoctorError(f"{what} cannot be asked: {late}") from late
    return result.returncode, result.stdout, result.stderr.strip()


def _last(said: str) -> str:
    return said.splitlines()[-1].strip() if said else "it said nothing"


def read_description(answer: Any, *, module: str, config: Path, overrides: Sequence[str] = ()) -> JobDescription:
    """Returns an adapter's JSON object as a JobDescription; keys unknown here are ignored.

    Raises TypeError naming the key whose value has the wrong type, ValueError where it is no object.
    """
    if not isinstance(answer, Mapping):
        raise ValueError(f"one JSON object was expected, got {type(answer).__name__}")
    hints = get_type_hints(JobDescription)
    known = {item.name for item in fields(JobDescription)} & answer.keys()
    values = {name: _convert(hints[name], answer[name], name) for name in known}
    values |= {"module": module, "config": config.absolute(), "overrides": tuple(overrides)}
    return JobDescription(**values)


def _convert(hint: Any, value: Any, name: str) -> Any:
    origin, arms = get_origin(hint), get_args(hint)
    if origin is types.UnionType:
        return None if value is None else _convert(arms[0], value, name)
    if origin is tuple and isinstance(value, list):
        return tuple(_convert(arms[0], item, name) for item in value)
    if origin is not None and issubclass(origin, Mapping) and isinstance(value, Mapping):
        return {str(key): str(item) for key, item in value.items()}
    if hint is Path and isinstance(value, str):
        return Path(value)
    if hint in (int, str) and type(value) is hint:
        return value
    raise TypeError(f"'{name}' is {value!r}")
