"""Which rules are asked: codes, beginnings of codes (A1), or names; the longer one that fits a rule wins."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from types import ModuleType

from diagnostics.core.errors import UsageError
from diagnostics.core.spelling import nearest

ALL = ("A",)


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """What was asked for and what was not; where both name a rule equally closely, it is not asked."""

    select: tuple[str, ...] = ALL
    ignore: tuple[str, ...] = ()

    def holds(self, code: str, name: str) -> bool:
        """Returns whether the rule is asked."""
        return _closeness(self.select, code, name) > _closeness(self.ignore, code, name)

    def of(self, rules: Mapping[str, ModuleType]) -> dict[str, ModuleType]:
        """Returns the rules that are asked, by code."""
        return {code: rule for code, rule in rules.items() if self.holds(code, rule.NAME)}


def fits(wanted: str, code: str, name: str) -> bool:
    """Returns whether "A101", "A1" or "loader-before-process-group" means this rule."""
    return code.startswith(wanted.upper()) or wanted.lower() == name


def split(values: Iterable[str], rules: Mapping[str, ModuleType], *, where: str) -> tuple[str, ...]:
    """Returns the codes and names in "A101,A2" texts. Raises UsageError for one that means no rule."""
    found = tuple(word for value in values for word in value.replace(",", " ").split())
    for word in found:
        if not any(fits(word, code, rule.NAME) for code, rule in rules.items()):
            known = [*rules, *(rule.NAME for rule in rules.values())]
            raise UsageError(
                f"{where}: no rule '{word}'{nearest(word, known)}", hint="list them: ups-doctor explain --list"
            )
    return found


def _closeness(words: Collection[str], code: str, name: str) -> int:
    return max(
        (len(name) + 4 if word.lower() == name else len(word) for word in words if fits(word, code, name)), default=0
    )
