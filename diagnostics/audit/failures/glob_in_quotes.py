"""A pattern of files stands inside quotes, so that cp, mv or rm looks for a file with a star in its name.

What it does: flags `cp "dir/*.ckpt" ...`, `mv "..."` and `rm "..."` with a star inside the quotes, where the failure is
dropped: by `|| true`, by `rm -f`, or by a script that goes on after a command that fails.

Why it matters: the shell leaves a star in quotes as it is, and no file is called so. The backup of the checkpoints
copies nothing, the script goes on, and what it deletes next was the only copy.

Bad:

    cp "$LOGS/version_0/checkpoints/*.ckpt" "$BACKUP/" 2>/dev/null || true

Good:

    cp "$LOGS"/version_0/checkpoints/*.ckpt "$BACKUP/"

What it cannot see: patterns in variables. A script with `set -e` ends at such a command: nothing is said of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from diagnostics.audit.rule import Violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.launch_files.command_locations import place
from diagnostics.static.launch_files.compound_commands import position_in
from diagnostics.static.launch_files.embedded_scripts import embedded_scripts
from diagnostics.static.launch_files.launched_program import training
from diagnostics.static.launch_files.shell_commands import CommandContext
from diagnostics.static.launch_files.shell_parser import Simple
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import FileKind, ProjectFile

CODE = "A517"
NAME = "glob-in-quotes"
SEVERITY = Severity.ERROR
READS = frozenset({FileKind.SHELL, FileKind.MAKEFILE})
CHECKLIST = "patterns of files stand outside of quotes"
_QUOTED = re.compile(r"\"([^\"]*)\"|'([^']*)'")
_QUIET = frozenset(["true", ":", "echo"])


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the copies, moves and deletions of nothing."""
    for script in embedded_scripts(file):
        if not any(training(one, file, project) is not None for one in script.commands):
            continue
        for ran in script.commands:
            if ran.words[:1] not in (("cp",), ("mv",), ("rm",)) or ran.outer is not None:
                continue
            at = next((index for index, one in enumerate(ran.tokens) if index and _is_pattern(one.text)), 0)
            if not at or not _goes_on(ran):
                continue
            line, column = place(file, ran)
            yield Violation(
                file=file,
                line=line,
                column=column,
                title=f"the star in {ran.tokens[at].text} stands in quotes: {ran.words[0]} looks for a file of that "
                "very name, finds none, and the script goes on",
                fix='put the star outside of the quotes: "$folder"/*.ckpt',
                confidence=Confidence.LIKELY,
            )


def _is_pattern(text: str) -> bool:
    """Whether a word has a star in quotes and none outside of them, as the name of a file: no variable's own `*`."""
    found = [one[1] or one[2] or "" for one in _QUOTED.finditer(text)]
    outside = _QUOTED.sub("", text)
    quoted = [re.sub(r"\$\{[^}]{0,200}\}|\$\([^)]{0,200}\)|\$\*|\\\*", "", one) for one in found]
    return "*" not in outside and any("*" in one and ("/" in one or "." in one) for one in quoted)


def _goes_on(ran: CommandContext) -> bool:
    """Whether a script takes no notice of a failure: it is dropped, or nothing looks at it."""
    if ran.words[0] == "rm" and any(re.fullmatch(r"-\w*f\w*|--force", one) for one in ran.words):
        return True
    statement = ran.and_or
    at, _ = position_in(ran, statement)
    operator = statement.operators[at] if at < len(statement.operators) else ""
    if operator == "||":
        after = statement.pipelines[at + 1].commands[0]
        return isinstance(after, Simple) and bool(after.words) and after.words[0].text in _QUIET
    return not operator and not ran.tested and "errexit" not in ran.options
