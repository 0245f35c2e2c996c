"""Whether the ranks built the same parameters, from what each of them reported. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from diagnostics.adapter.answers import BuiltModule, ModelAnswer


@dataclass(frozen=True, slots=True, kw_only=True)
class ParameterMismatch:
    """Two ranks that differ; `module` is the deepest first one that does, "" where only the totals tell."""

    ranks: tuple[int, int]
    module: str
    values: tuple[str, str]


def disagreeing(answers: Sequence[ModelAnswer]) -> ParameterMismatch | None:
    """Returns the first difference between ranks that reached the same phase; None where all agree."""
    for other in answers[1:]:
        first = answers[0]
        known = {module.path: module for module in first.modules}
        pairs = [(known[module.path], module) for module in other.modules if module.path in known]
        differing = [(one, two) for one, two in pairs if _facts(one) != _facts(two)]
        if differing:
            return _deepest(first, other, differing)
        if len(first.phases) == len(other.phases) and first.parameters != other.parameters:
            values = (f"{first.parameters} parameters", f"{other.parameters} parameters")
            return ParameterMismatch(ranks=(first.rank, other.rank), module=_extra(first, other), values=values)
    return None


def _facts(module: BuiltModule) -> tuple[str, int, str]:
    return module.class_name, module.bytes, module.shapes


def _deepest(
    first: ModelAnswer, other: ModelAnswer, differing: Sequence[tuple[BuiltModule, BuiltModule]]
) -> ParameterMismatch:
    """A parent differs because its child does: the first that has no differing child is the cause."""
    paths = [one.path for one, _ in differing]
    leaves = [pair for pair in differing if not any(_is_below(path, pair[0].path) for path in paths)]
    one, two = (leaves or list(differing))[0]
    values = (_shown(one), _shown(two))
    return ParameterMismatch(ranks=(first.rank, other.rank), module=one.path or one.class_name, values=values)


def _is_below(path: str, parent: str) -> bool:
    return path != parent and (not parent or path.startswith(f"{parent}."))


def _extra(first: ModelAnswer, other: ModelAnswer) -> str:
    """Returns a module that only one of the ranks has."""
    paths = {module.path for module in first.modules} ^ {module.path for module in other.modules}
    return min(paths, default="")


def _shown(module: BuiltModule) -> str:
    return f"{module.class_name} of {module.bytes} bytes" + (f", {module.shapes}" if module.shapes else "")
