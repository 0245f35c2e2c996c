"""A recipe of a Makefile has `$name`, of which make takes the first letter.

What it does: flags `$name` with one `$` in a recipe that starts a training, where the Makefile sets no variable of that
one letter.

Why it matters: make reads `$first` as the value of its variable `f`, which is empty, and then "irst". Each node is told
to meet at a host "irst", each rank its number is "ank": the rendezvous fails, or a folder of a wrong name is written
to.

Bad:

    train:
        first=$$(head -n 1 hosts); torchrun --master-addr=$first train.py

Good:

    train:
        first=$$(head -n 1 hosts); torchrun --master-addr=$$first train.py

What it cannot see: variables that are set in files that the Makefile includes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from diagnostics.audit.rule import Violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.launch_files.embedded_scripts import embedded_scripts
from diagnostics.static.launch_files.launched_program import training
from diagnostics.static.launch_files.makefile import recipes, split_names
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import FileKind, ProjectFile

CODE = "A620"
NAME = "name-split-by-make"
SEVERITY = Severity.ERROR
READS = frozenset({FileKind.MAKEFILE})
CHECKLIST = "variables of the shell have two dollars in a Makefile"


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the names of the shell that make takes apart."""
    trained = {ran.line for script in embedded_scripts(file) for ran in script.commands
               if training(ran, file, project) is not None}  # fmt: skip
    if not trained:
        return
    found = recipes(file.text)
    spans = [(one.line, one.line + one.text.count("\n")) for one in found]
    trains = [span for span in spans if any(span[0] <= line <= span[1] for line in trained)]
    for line, column, name in split_names(file.text):
        span = next((one for one in trains if one[0] <= line <= one[1]), None)
        if span is None:
            continue
        text = "\n".join(file.lines[span[0] - 1 : span[1]])
        is_set = re.search(rf"\b{name}=|\b(?:for|read)\s+{name}\b", text) is not None
        yield Violation(
            file=file,
            line=line,
            column=column,
            title=f"make reads ${name} as its variable '{name[0]}' and then '{name[1:]}': no shell sees the name",
            fix=f"$${name}" + ("" if is_set else f" of the shell, or $({name}) of make"),
            confidence=Confidence.CONFIRMED if is_set else Confidence.LIKELY,
        )
