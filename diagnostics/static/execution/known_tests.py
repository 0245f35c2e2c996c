"""What the tests around a statement say of another test. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from diagnostics.static.execution.events import Guard
from diagnostics.static.execution.values import Made, Value, same, truth

_OPPOSITE = {"==": "!=", "!=": "==", "is": "is not", "is not": "is", "<": ">=", ">=": "<", ">": "<=", "<=": ">",
             "in": "not in", "not in": "in"}  # fmt: skip
_MOST = 12


def decided(test: Value, guards: Sequence[Guard]) -> bool | None:
    """Returns whether a test is true, by itself or because the same one stands around; None where it is not known."""
    told = truth(test)
    if told is not None or not guards:
        return told
    for guard in reversed(guards[-_MOST:]):
        found = None if guard.handler else _by(test, guard.test, guard.taken)
        if found is not None:
            return found
    if isinstance(test, Made) and test.name == "not":
        inner = decided(test.args[0], guards)
        return None if inner is None else not inner
    if isinstance(test, Made) and test.name in ("and", "or"):
        stops = test.name == "or"
        parts = [decided(one, guards) for one in test.args]
        if stops in parts:
            return stops
        return None if None in parts else not stops
    return None


def _by(test: Value, known: Value, taken: bool) -> bool | None:
    if not isinstance(known, Made):
        return taken if same(test, known) else None
    if isinstance(test, Made) and test.name == known.name and same(test, known):
        return taken
    if known.name == "not":
        return _by(test, known.args[0], not taken)
    if known.name == ("and" if taken else "or"):
        return next((found for one in known.args if (found := _by(test, one, taken)) is not None), None)
    if isinstance(test, Made) and _OPPOSITE.get(test.name) == known.name and len(test.args) == len(known.args) == 2:
        return not taken if all(same(a, b) for a, b in zip(test.args, known.args, strict=True)) else None
    return None
