"""Names of files that may be one: what an option is in another run counts, too. Pure."""

from __future__ import annotations

from itertools import product

from diagnostics.static.execution.configuration import choices
from diagnostics.static.execution.values import Const, Items, Made, OneOf, Value, same, usual

_MOST = 16
_JOINS = frozenset(["os.path.join", "/", "pathlib.Path"])
_SAME = frozenset(["str", "os.fspath", "os.path.expanduser"])


def may_meet(one: Value | None, other: Value | None) -> bool:
    """Whether two runs of a script may name one file by two paths."""
    if one is None or other is None:
        return False
    if same(one, other):
        return True
    texts, others = _texts(one), _texts(other)
    if texts and others:
        return not texts.isdisjoint(others)
    if isinstance(one, Made) and isinstance(other, Made) and one.name == other.name and one.name in _JOINS:
        pairs = list(zip(one.args, other.args, strict=False))
        return len(one.args) == len(other.args) == len(pairs) and all(may_meet(*pair) for pair in pairs)
    return False


def _texts(value: Value) -> frozenset[str]:
    """Returns what a text may be: of an option each of its choices, or its default; nothing where it is not known."""
    if isinstance(value, Const):
        return frozenset([str(value.value)])
    if isinstance(value, OneOf):
        found = [_texts(one) for one in value.options]
        return frozenset().union(*found) if all(found) else frozenset()
    if not isinstance(value, Made):
        return frozenset()
    if value.name in _SAME and len(value.args) == 1:
        return _texts(value.args[0])
    if value.name == "f":
        parts = [_texts(one) for one in value.args]
        count = 1
        for one in parts:
            count *= len(one)
        return frozenset("".join(one) for one in product(*parts)) if 0 < count <= _MOST else frozenset()
    told = choices(value) if value.name.startswith(".") else None
    if isinstance(told, Items) and not told.open and told.items:
        named = [one.value for one in told.items if isinstance(one, Const)]
        return frozenset(map(str, named)) if len(named) == len(told.items) else frozenset()
    default = usual(value)
    return frozenset([default.value]) if isinstance(default, Const) and isinstance(default.value, str) else frozenset()
