"""Names of files that may be one: what an option is in another run counts, too. Pure."""

from __future__ import annotations

from itertools import product

from diagnostics.static.execution.configuration import choices
from diagnostics.static.execution.values import Const, Items, Made, OneOf, Value, same, sources, usual

_MOST = 16
_JOINS = frozenset(["os.path.join", "/", "pathlib.Path"])
_SAME = frozenset(["str", "os.fspath", "os.path.expanduser"])
# Where the folder stands among the arguments of what lists one; -1: it is the owner.
_LISTS = {"os.listdir": (0, "path"), "os.scandir": (0, "path"), "glob.glob": (0, "pathname"),
          "glob.iglob": (0, "pathname"), ".glob": (-1, ""), ".rglob": (-1, ""), ".iterdir": (-1, "")}  # fmt: skip


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


def listed_in(path: Value | None) -> tuple[Value, ...]:
    """Returns the folders that a path was looked up in: by os.listdir, glob and the like."""
    found: list[Value | None] = []
    for one in sources(path):
        place = _LISTS.get(one.name) if isinstance(one, Made) else None
        if place is None or not isinstance(one, Made):
            continue
        given = one.owner if place[0] < 0 else one.argument(*place)
        found.append(_folder_of(given) if one.name.startswith("glob.") else given)
    return tuple(one for one in found if one is not None)


def _folder_of(pattern: Value | None) -> Value | None:
    """Returns the folder of a pattern: `os.path.join(folder, "*.pt")`, `folder + "/*.pt"`, f"{folder}/*.pt"."""
    if isinstance(pattern, Const) and isinstance(pattern.value, str):
        return Const(pattern.value.rpartition("/")[0]) if "/" in pattern.value else None
    if not isinstance(pattern, Made):
        return None
    if pattern.name in _SAME and len(pattern.args) == 1:
        return _folder_of(pattern.args[0])
    rest = pattern.args[1:]
    if len(rest) != 1 or not isinstance(rest[0], Const) or not isinstance(rest[0].value, str):
        return None
    begins = rest[0].value.startswith("/") and rest[0].value.count("/") == 1
    joins = pattern.name in _JOINS and "/" not in rest[0].value
    return pattern.args[0] if joins or (begins and pattern.name in ("+", "f")) else None
