"""`$?` is read behind `! train`, where it is the status of the negation.

What it does: flags `$?` in the first command of `if ! torchrun ...; then`, of `while ! ...; do` and of
`! torchrun ... && ...`, also where only words stand before it.

Why it matters: `!` turns the status over. Where the training failed, `! train` has succeeded, and `$?` is 0: a function
that returns it says that all is well, `exit $?` ends the job with 0, and a log says "failed with 0".

Bad:

    if ! torchrun train.py; then
        exit $?
    fi

Good:

    torchrun train.py || exit $?

What it cannot see: trainings that a function of another file starts.
"""

from __future__ import annotations

from collections.abc import Iterator

from diagnostics.audit.rule import ExplanationStep, Violation
from diagnostics.core.findings import Severity
from diagnostics.static.launch_files.command_locations import place, reads_status, tokens_of
from diagnostics.static.launch_files.compound_commands import compound_of, is_test, position_in
from diagnostics.static.launch_files.embedded_scripts import embedded_scripts
from diagnostics.static.launch_files.launched_program import Training, training
from diagnostics.static.launch_files.quiet_commands import are_quiet
from diagnostics.static.launch_files.shell_commands import CommandContext
from diagnostics.static.launch_files.shell_parser import AndOr
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import FileKind, ProjectFile

CODE = "A516"
NAME = "status-of-negation"
SEVERITY = Severity.ERROR
READS = frozenset({FileKind.SHELL, FileKind.YAML, FileKind.DOCKERFILE, FileKind.MAKEFILE})
CHECKLIST = "the status of a training is read from itself"


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the places at which a negation's status is taken for that of a training."""
    for script in embedded_scripts(file):
        for ran in script.commands:
            if ran.pipeline.negated and (found := training(ran, file, project)) is not None:
                read = _read_behind(ran)
                if read is not None:
                    yield _hit(file, ran, found, read)


def _read_behind(ran: CommandContext) -> AndOr | None:
    """Returns the statement that reads the status of the negation that a command stands in."""
    block = ran.blocks[-1]
    statement = block.statements[block.index]
    at, _ = position_in(ran, statement)
    if statement.operators[at : at + 1] == ("&&",):
        behind = AndOr(pipelines=statement.pipelines[at + 1 : at + 2])
        return behind if reads_status([behind]) else None
    around = compound_of(ran, block)
    if around is None or statement.operators or block.after or not is_test(around, block):
        return None
    part = next(number for number, one in enumerate(around.parts) if one is block.statements)
    for one in around.parts[part + 1] if part + 1 < len(around.parts) else ():
        if reads_status([one]):
            return one
        if not are_quiet([one]):
            return None
    return None


def _hit(file: ProjectFile, ran: CommandContext, found: Training, read: AndOr) -> Violation:
    token = next((one for one in tokens_of(read) if "$?" in one.text), next(tokens_of(read)))
    row = file.line(token.line)
    started = place(file, ran)[0]
    return Violation(
        file=file,
        line=token.line,
        column=len(row) - len(row.lstrip()) + 1,
        title=f"'$?' is the status of '! {found.shown}' here, which is 0 where the training failed",
        fix=f"'{found.shown} || status=$?', with status=0 before it, and ask $status",
        steps=(
            ExplanationStep(
                place=file.place(started), text=f"'{found.shown}' ends, with 1 perhaps, and '!' makes it 0"
            ),
            ExplanationStep(place=file.place(token.line), text="'$?' is that 0"),
        ),
    )
