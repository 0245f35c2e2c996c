"""The checkpoint is the target of the rule that trains, and make deletes it when the training is interrupted.

What it does: flags a rule of a Makefile whose training is given `$@` as the checkpoint that it goes on from, and whose
target `.PRECIOUS` does not name.

Why it matters: make deletes the target of a rule that is interrupted after it was changed. The training writes it after
each epoch so that it can go on: one Ctrl-C, one time limit, and all epochs so far are gone.

Bad:

    .PRECIOUS: $(wildcard out/*.pt)

    out/last.pt: data.txt
        python train.py --checkpoint $@

Good:

    .PRECIOUS: out/last.pt

What it cannot see: variables that are set in files which the Makefile includes. `$(wildcard ...)` is worked out when
make starts, and names nothing that is not there yet.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from diagnostics.audit.rule import ExplanationStep, Violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.launch_files.embedded_scripts import embedded_scripts
from diagnostics.static.launch_files.launched_program import training
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import FileKind, ProjectFile

CODE = "A626"
NAME = "target-deleted-by-make"
SEVERITY = Severity.ERROR
READS = frozenset({FileKind.MAKEFILE})
CHECKLIST = "make keeps the checkpoint of an interrupted training"
_TARGET = re.compile(r"--?([\w-]{1,60})[ =]{1,9}\"?\$@\"?(?=\s|$)")
_RULE = re.compile(r"^([^\t#:=][^:=#]{0,200}?)\s{0,9}&?::?(?!=)")
_VARIABLE = re.compile(r"\$[({](\w{1,80})[)}]")
_ROUNDS = 4


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the checkpoints that an interrupt deletes."""
    for script in embedded_scripts(file):
        for ran in script.commands:
            found = training(ran, file, project)
            if found is None or found.program is None:
                continue
            option = next((one for number in range(ran.line, len(file.lines) + 1)
                           if (one := _TARGET.search(file.line(number)))
                           or not file.line(number).endswith("\\")), None)  # fmt: skip
            rule = _rule(file, ran.line)
            if not isinstance(option, re.Match) or rule is None:
                continue
            read = _goes_on_from(option[1].replace("-", "_"), found.program)
            kept, precious = _kept(file)
            targets = {_expanded(one, file) for one in file.line(rule[0])[: rule[1]].split()}
            if not read or targets & kept or any("%" in one or one == "*" for one in kept):
                continue
            yield Violation(
                file=file,
                line=precious or rule[0],
                title="make deletes this rule's target when the training is interrupted, and the training goes on from "
                "it: the checkpoint of all epochs so far is lost"
                if not precious
                else ".PRECIOUS names only what is there when make starts: the checkpoint of a first training that is "
                "interrupted is deleted",
                fix=f".PRECIOUS: {file.line(rule[0])[: rule[1]].strip()}",
                steps=(
                    ExplanationStep(place=file.place(ran.line), text="writes the target in the course of the training"),
                    ExplanationStep(place=found.program.place(read), text="and goes on from it where it exists"),
                ),
                confidence=Confidence.LIKELY,
            )
            break


def _rule(file: ProjectFile, line: int) -> tuple[int, int] | None:
    """Returns the line of the rule that a recipe belongs to, and where its targets end."""
    for number in range(line - 1, 0, -1):
        found = _RULE.match(file.line(number))
        if found is not None:
            return number, found.end(1)
        if file.line(number) and not file.line(number).startswith(("\t", "#", " ")):
            return None
    return None


def _goes_on_from(option: str, program: ProjectFile) -> int:
    """Returns the line at which a program loads what an option names, where it asks whether that exists."""
    name = rf"\.{re.escape(option)}\b"
    asks = any(re.search(name, row) and re.search(r"exists|is_file|isfile", row) for row in program.lines)
    return next((number for number, row in enumerate(program.lines, 1)
                 if asks and re.search(name, row) and re.search(r"\bload\w*\(", row)), 0)  # fmt: skip


def _kept(file: ProjectFile) -> tuple[set[str], int]:
    """Returns what .PRECIOUS and .PHONY name, and the line of one that names only what there is."""
    names: set[str] = set()
    at = 0
    for number, row in enumerate(file.lines, 1):
        found = re.match(r"\.(PRECIOUS|PHONY)\s*:(.*)$", row)
        if found is None:
            continue
        if "$(wildcard" in found[2]:
            at = number if found[1] == "PRECIOUS" else at
            continue
        if found[1] == "PRECIOUS" and not found[2].strip():
            names.add("*")
        names |= {_expanded(one, file) for one in found[2].split()}
    return names, at


def _expanded(text: str, file: ProjectFile) -> str:
    """Returns a name with the variables that the Makefile itself sets."""
    for _ in range(_ROUNDS):
        for name in set(_VARIABLE.findall(text)):
            found = re.search(rf"^{name}[ \t]*[:?]?:?=(.*)$", file.text, re.MULTILINE)
            if found is not None:
                value = found[1].strip()
                text = text.replace(f"$({name})", value).replace(f"${{{name}}}", value)
    return text
