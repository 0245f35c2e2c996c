"""The instructions of a Dockerfile with their lines. Pure."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

_INSTRUCTION = re.compile(r"\s*([A-Za-z]+)(?:\s+|$)")
_HEREDOC = re.compile(r"<<-?(['\"]?)(\w+)\1")
_ESCAPE = re.compile(r"#\s*escape\s*=\s*(.)\s*", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Instruction:
    """One instruction, its name in capitals; `text` has as many lines as it has in the file."""

    name: str
    text: str
    line: int
    column: int

    @property
    def words(self) -> tuple[str, ...]:
        """The words of the exec form `["python", "train.py"]`, () of the shell form."""
        text = re.sub(r"\\\n", " ", self.text).strip()
        if not text.startswith("["):
            return ()
        try:
            found = json.loads(text)
        except (ValueError, RecursionError):
            return ()
        return tuple(found) if all(isinstance(word, str) for word in found) else ()


def instructions(text: str) -> tuple[Instruction, ...]:
    """Returns the instructions of a Dockerfile in order."""
    rows = text.split("\n")
    escape = _ESCAPE.fullmatch(rows[0].strip()) if rows else None
    ends = escape[1] if escape else "\\"
    found = []
    at = 0
    while at < len(rows):
        named = _INSTRUCTION.match(rows[at])
        if named is None:  # empty, or a comment
            at += 1
            continue
        end = _end(rows, at, ends)
        whole = [rows[at][named.end() :], *rows[at + 1 : end]]
        # A comment between continued lines is taken out, and the instruction goes on.
        kept = [row if not (index and row.lstrip().startswith("#")) else "\\" for index, row in enumerate(whole)]
        kept = [row.rstrip()[:-1] + "\\" if row.rstrip().endswith(ends) else row for row in kept]
        found.append(Instruction(name=named[1].upper(), text="\n".join(kept), line=at + 1, column=named.end() + 1))
        at = end
    return tuple(found)


def _end(rows: list[str], at: int, escape: str) -> int:
    """Returns the index behind the last row of the instruction that begins in row `at`."""
    end = at + 1
    while rows[end - 1].rstrip().endswith(escape) and end < len(rows):
        while end < len(rows) and rows[end].lstrip().startswith("#"):
            end += 1
        end = min(end + 1, len(rows))
    if rows[at].lstrip()[:3].upper() in ("RUN", "COP", "ADD") and (here := _HEREDOC.search("\n".join(rows[at:end]))):
        while end < len(rows) and rows[end].strip() != here[2]:
            end += 1
        end = min(end + 1, len(rows))
    return end
