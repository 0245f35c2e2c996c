r"""A command ends before its options do: what was to go on a row earlier is a command of its own.

What it does: flags a command whose row ends in a backslash and a blank or a comment, where the next row is meant as
its continuation: it begins with an option, or stands deeper than the command. The same for a row that is empty or a
comment, which a backslash before it makes the command's last, and for an option that begins a command because the row
before has no backslash.

Why it matters: a backslash continues a row only as its very last character, and only by the next row. The command ends
there: the training starts with its defaults for all further options, or with a blank for an argument, and the next rows
are commands that do not exist. One that reads like NAME=value is not even that: it sets a variable of the shell.

Bad:

    python train.py \
        --batch-size 64 \   # fits on the small cards
        --epochs 30

Good:

    python train.py \
        --batch-size 64 \
        --epochs 30

What it cannot see: scripts that no shell can read, such as those whose next row begins with a pipe.
"""

from __future__ import annotations

from collections.abc import Iterator

from diagnostics.audit.rule import ExplanationStep, Violation
from diagnostics.core.findings import Severity
from diagnostics.static.launch_files.embedded_scripts import embedded_scripts
from diagnostics.static.launch_files.shell_commands import CommandContext
from diagnostics.static.launch_files.shell_lexer import Token
from diagnostics.static.launch_files.shell_parser import Simple
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import FileKind, ProjectFile

CODE = "A622"
NAME = "text-behind-backslash"
SEVERITY = Severity.ERROR
READS = frozenset({FileKind.SHELL})
CHECKLIST = "nothing stands behind a backslash that continues a line"
_BLANKS = ("\\ ", "\\\t")
_FIX = "let the backslash be the last character of the line"


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the commands that end too early."""
    for script in embedded_scripts(file):
        for ran in script.commands:
            # The last of what `&&` and `|` join, in the script itself: nothing but its end is behind it.
            if ran.outer is not None or not ran.blocks or ran.and_or.pipelines[-1].commands[-1] is not ran.command:
                continue
            after = ran.blocks[-1].after
            first = after[0].pipelines[0].commands[0] if after else None
            if isinstance(first, Simple) and not any(one.target.body for one in ran.command.redirects):
                yield from _ended(file, ran, first)


def _ended(file: ProjectFile, ran: CommandContext, following: Simple) -> Iterator[Violation]:
    word = following.first
    option = word if following.words and word is following.words[0] and word.text.startswith("-") else None
    blank = _blank(ran.command)
    end = max(one.line + one.text.count("\n") for one in _tokens(ran.command))
    row = file.line(word.line)
    goes_on = option is not None or _depth(row) > _depth(file.line(ran.command.first.line))
    between = [file.line(number).strip() for number in range(end + 1, word.line)]
    name = ran.words[0] if ran.words and ran.words[0].strip() else ran.command.first.text
    what = f"{word.text} is no argument of it, but a command of its own"
    if not following.words:
        what = f"{word.text} is no argument of it, but sets a variable of the shell"
        what = what if following.assignments else f"nothing is written to {word.text}"
    if blank is not None and goes_on:
        line, column = blank.line, file.line(blank.line).find("\\", max(blank.column - 1, 0)) + 1
        title, fix = f"something stands behind the backslash: '{name}' ends here, and {what}", _FIX
    elif blank is None and goes_on and between and file.line(end).endswith("\\"):
        line, column = end + 1, 1
        kind = "a comment" if between[0] else "an empty row"
        title, fix = f"the backslash before goes on with {kind}, which ends '{name}': {what}", "take the row out"
    elif blank is None and option is not None and not between and word.line == end + 1:
        line, column = end, len(file.line(end))
        title, fix = f"no backslash ends this row, so '{name}' ends here: {what}", "let a backslash end the row"
    else:
        return
    yield Violation(
        file=file,
        line=line,
        column=max(column, 1),
        title=title,
        fix=fix,
        steps=(ExplanationStep(place=file.place(word.line), text="run as a command of its own"),),
    )


def _blank(command: Simple) -> Token | None:
    """Returns the word that a blank behind a backslash makes, where the row ends with it or with a comment."""
    last = command.words[-1] if command.words else None
    apart = next((one for one in command.words if one.text.startswith(_BLANKS)), None)
    return apart if apart is not None else last if last is not None and last.text.endswith(_BLANKS) else None


def _tokens(command: Simple) -> tuple[Token, ...]:
    return (*command.assignments, *command.words, *(one.target for one in command.redirects))


def _depth(row: str) -> int:
    return len(row) - len(row.lstrip())
