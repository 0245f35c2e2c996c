"""The best-practice table: each practice that rules watch over is kept, broken, or has nothing to look at. Pure.

A tick is a proof: there is none where a finding is only possible, where a rule came to no end, or where what the
rule is about was seen nowhere.
"""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import ModuleType

from diagnostics.audit.found import Audit
from diagnostics.core.findings import Confidence

_SETTLED = ("ok", "not seen", "not applicable")


@dataclass(frozen=True, slots=True, kw_only=True)
class Practice:
    """One line: `findings` are confirmed and likely ones, `files` those that could break it.

    `possible` are findings that source cannot decide, `crashed` files that a rule gave no answer about; `seen` is
    whether what the practice is about is used anywhere.
    """

    text: str
    codes: tuple[str, ...]
    findings: int
    files: int
    possible: int = 0
    crashed: int = 0
    seen: bool = True

    @property
    def kept(self) -> str:
        """ok, "2 findings", "1 possible", "not decided", "not seen", or "not applicable" where no file is about it."""
        if self.findings:
            return f"{self.findings} finding{'s' * (self.findings != 1)}"
        if self.possible:
            return f"{self.possible} possible"
        if self.crashed:
            return "not decided"
        if not self.files:
            return "not applicable"
        return "ok" if self.seen else "not seen"


def checklist(audit: Audit, rules: Mapping[str, ModuleType]) -> list[Practice]:
    """Returns the practices in the order of their rules' codes; several rules may watch over one."""
    codes: dict[str, list[str]] = {}
    for code in sorted(audit.asked):
        text = getattr(rules.get(code), "CHECKLIST", "")
        if text:
            codes.setdefault(text, []).append(code)
    sure = Counter(one.code for one in audit.found if one.hit.confidence is not Confidence.POSSIBLE)
    possible = Counter(one.code for one in audit.found if one.hit.confidence is Confidence.POSSIBLE)
    crashed = Counter(one.code for one in audit.crashed)
    return [
        Practice(
            text=text,
            codes=tuple(several),
            findings=sum(sure[code] for code in several),
            files=max(audit.asked[code] for code in several),
            possible=sum(possible[code] for code in several),
            crashed=sum(crashed[code] for code in several),
            seen=any(audit.asked[code] and code not in audit.unseen for code in several),
        )
        for text, several in codes.items()
    ]


def lines(practices: list[Practice], *, width: int = 0) -> Iterator[str]:
    """Yields the table: mark, what came of it, the practice and its rules."""
    marks = {"ok": "[x]", "not applicable": " - ", "not seen": " - ", "not decided": "[?]"}
    for one in practices:
        open_ = one.possible and not one.findings
        head = f"{marks.get(one.kept, '[?]' if open_ else '[ ]')} {one.kept:<14}  "
        text = f"{one.text} ({', '.join(one.codes)}){': see --possible' if open_ else ''}"
        room = max(width - len(head), 30) if width else len(text)
        first, *rest = textwrap.wrap(text, room) or [""]
        yield head + first
        yield from (" " * len(head) + line for line in rest)
    states = Counter(one.kept for one in practices)
    out = states["not applicable"] + states["not seen"]
    open_lines = sum(not one.findings and one.kept not in _SETTLED for one in practices)
    counts = {"open": open_lines, "not seen": states["not seen"], "not applicable": states["not applicable"]}
    told = [f"{number} {what}" for what, number in counts.items() if number or what == "not applicable"]
    yield ", ".join([f"{states['ok']} of {len(practices) - out} practices kept", *told])
