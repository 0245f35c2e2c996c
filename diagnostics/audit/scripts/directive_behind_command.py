"""A #SBATCH line stands behind the first command of a batch script.

What it does: flags a script whose #SBATCH lines, or some of them, come after a command: `set -euo pipefail`, an export,
a module that is loaded.

Why it matters: sbatch reads these lines up to the first command and says nothing of the rest. The job gets the
partition's defaults: one task, no GPU, little memory, a short time.

Bad:

    #!/bin/bash
    set -euo pipefail
    #SBATCH --nodes=4
    #SBATCH --gpus-per-node=8
    srun python train.py

Good:

    #!/bin/bash
    #SBATCH --nodes=4
    #SBATCH --gpus-per-node=8
    set -euo pipefail
    srun python train.py

Source: https://slurm.schedmd.com/sbatch.html: "Once the first non-comment non-whitespace line has been reached in the
script, no more #SBATCH directives will be processed".

What it cannot see: options that are given to sbatch itself instead. Scripts that write other scripts are left alone.
"""

from __future__ import annotations

from collections.abc import Iterator

from diagnostics.audit.rule import ExplanationStep, Violation
from diagnostics.core.findings import Severity
from diagnostics.static.launch_files.embedded_scripts import embedded_scripts
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import FileKind, ProjectFile

CODE = "A627"
NAME = "directive-behind-command"
SEVERITY = Severity.WARNING
READS = frozenset({FileKind.SHELL})
CHECKLIST = "what a batch script asks for stands before its first command"
_DIRECTIVE = "#SBATCH "
_WRITES = "<<"  # text of another script, as a rule


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the first directive that sbatch does not read."""
    rows = file.lines
    directives = [number for number, row in enumerate(rows, 1) if row.startswith(_DIRECTIVE)]
    if not directives or not rows[0].startswith("#!"):
        return
    tokens = [
        token
        for script in embedded_scripts(file)
        for ran in script.commands
        for token in (*ran.command.assignments, *ran.command.words)
        if ran.outer is None
    ]
    first = min((token.line for token in tokens), default=0)
    lost = [number for number in directives if 0 < first < number]
    if not lost or any(_DIRECTIVE in token.text for token in tokens):
        return
    if any(_WRITES in row for row in rows[: lost[0]]):
        return
    at = first if len(lost) == len(directives) else lost[0]  # a command before all of them is what has to move
    yield Violation(
        file=file,
        line=at,
        column=1,
        title=f"sbatch reads no #SBATCH line behind the first command: {rows[lost[0] - 1].strip()[:60]}"
        + (f" and {len(lost) - 1} more are" if len(lost) > 1 else " is")
        + " not asked for",
        fix=f"move the #SBATCH lines before line {first}",
        steps=(
            ExplanationStep(place=file.place(first), text="the first command"),
            ExplanationStep(place=file.place(lost[0]), text="not read"),
        ),
    )
