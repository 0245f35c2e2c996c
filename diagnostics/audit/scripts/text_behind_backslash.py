r"""Something stands behind the backslash that was to continue a command in the next line.

What it does: flags a command whose line ends in a backslash and a blank or a comment, where the next line begins with
an option.

Why it matters: a backslash continues a line only as its very last character. With a blank behind it the command ends
there: the training starts with its defaults for all further options, and the next lines are commands that do not exist.

Bad:

    python train.py \
        --batch-size 64 \   # fits on the small cards
        --epochs 30

Good:

    python train.py \
        --batch-size 64 \
        --epochs 30

What it cannot see: lines whose next one begins with something else than an option.
"""

from __future__ import annotations

from collections.abc import Iterator

from diagnostics.audit.rule import ExplanationStep, Violation
from diagnostics.core.findings import Severity
from diagnostics.static.launch_files.embedded_scripts import embedded_scripts
from diagnostics.static.launch_files.shell_parser import Simple
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import FileKind, ProjectFile

CODE = "A622"
NAME = "text-behind-backslash"
SEVERITY = Severity.ERROR
READS = frozenset({FileKind.SHELL})
CHECKLIST = "nothing stands behind a backslash that continues a line"
_BLANKS = ("\\ ", "\\\t")


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the commands that end too early."""
    for script in embedded_scripts(file):
        for ran in script.commands:
            last = next((one for one in ran.command.words if one.text.startswith(_BLANKS)), None)
            if last is None and ran.command.words and ran.command.words[-1].text.endswith(_BLANKS):
                last = ran.command.words[-1]
            if last is None or ran.outer is not None or not ran.blocks:
                continue
            after = ran.blocks[-1].after
            first = after[0].pipelines[0].commands[0] if after else None
            if not isinstance(first, Simple) or not first.words or not first.words[0].text.startswith("-"):
                continue
            option = first.words[0]
            row = file.line(last.line)
            yield Violation(
                file=file,
                line=last.line,
                column=row.find("\\", max(last.column - 1, 0)) + 1,
                title=f"something stands behind the backslash: '{ran.words[0]}' ends here, and {option.text} is no "
                "option of it, but a command that does not exist",
                fix="let the backslash be the last character of the line",
                steps=(ExplanationStep(place=file.place(option.line), text="run as a command of its own"),),
            )
