"""The numbers of recorded inputs, read in a child: they lie in files of torch."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from diagnostics.core.own_folders import CHILDREN
from diagnostics.machine.contract import Child
from diagnostics.machine.facts import ChildTimeout, MachineError

PROGRAM = CHILDREN / "recorded_values.py"
DEADLINE_S = 120.0


class Values:
    """Reads each file once."""

    def __init__(self, python: str, child: Child) -> None:
        self._python, self._child = python, child
        self._known: dict[Path, list[Any]] = {}

    def filled(self, file: Path, *structures: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Returns the structures with "values" beside the tensors whose numbers are few."""
        if file not in self._known:
            self._known[file] = self._read(file)
        return [_filled(one, self._known[file]) for one in structures]

    def _read(self, file: Path) -> list[Any]:
        try:
            result = self._child.run([self._python, str(PROGRAM), str(file)], deadline_s=DEADLINE_S)
            return list(json.loads(result.stdout)[str(file)])
        except (ChildTimeout, MachineError, ValueError, KeyError):
            return []


def _filled(structure: Mapping[str, Any], stored: list[Any]) -> dict[str, Any]:
    found = dict(structure)
    if "items" in found:
        found["items"] = [_filled(one, stored) for one in found["items"]]
    place = found.get("stored")
    if found.get("kind") == "tensor" and isinstance(place, int) and place < len(stored):
        found["values"] = stored[place]
    return found
