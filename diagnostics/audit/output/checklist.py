"""The best-practice table: each practice that rules watch over is kept, broken, or has nothing to look at. Pure."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import ModuleType

from diagnostics.audit.found import Audit
from diagnostics.core.findings import Confidence


@dataclass(frozen=True, slots=True, kw_only=True)
class Practice:
    """One line: `findings` are confirmed and likely ones, `files` those that could break it."""

    text: str
    codes: tuple[str, ...]
    findings: int
    files: int

    @property
    def kept(self) -> str:
        """ok, "2 findings", or "not applicable" where no file has to do with it."""
        if self.findings:
            return f"{self.findings} finding{'s' * (self.findings != 1)}"
        return "ok" if self.files else "not applicable"


def checklist(audit: Audit, rules: Mapping[str, ModuleType]) -> list[Practice]:
    """Returns the practices in the order of their rules' codes; several rules may watch over one."""
    codes: dict[str, list[str]] = {}
    for code in sorted(audit.asked):
        text = getattr(rules.get(code), "CHECKLIST", "")
        if text:
            codes.setdefault(text, []).append(code)
    sure = [one.code for one in audit.found if one.hit.confidence is not Confidence.POSSIBLE]
    return [
        Practice(
            text=text,
            codes=tuple(several),
            findings=sum(sure.count(code) for code in several),
            files=max(audit.asked[code] for code in several),
        )
        for text, several in codes.items()
    ]


def lines(practices: list[Practice], *, width: int = 0) -> Iterator[str]:
    """Yields the table: mark, what came of it, the practice and its rules."""
    marks = {"ok": "[x]", "not applicable": " - "}
    for one in practices:
        head = f"{marks.get(one.kept, '[ ]')} {one.kept:<14}  "
        text = f"{one.text} ({', '.join(one.codes)})"
        room = max(width - len(head), 30) if width else len(text)
        first, *rest = textwrap.wrap(text, room) or [""]
        yield head + first
        yield from (" " * len(head) + line for line in rest)
    applicable = [one for one in practices if one.findings or one.files]
    good = sum(not one.findings for one in applicable)
    yield f"{good} of {len(applicable)} practices kept, {len(practices) - len(applicable)} not applicable"
