"""The script that a shell of the job ran, and which of its commands one of its children was. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from diagnostics.core.frames import shown_path
from diagnostics.dynamic.job.job import Job, JobProcess
from diagnostics.static.launch_files.shell_commands import SHELLS, Ran, commands, options_after
from diagnostics.static.launch_files.shell_lexer import ShellError
from diagnostics.static.launch_files.shell_parser import parse

_UNKNOWN = frozenset("$`*?[")  # what the shell had made something else of
_WITH_VALUE = ("-o", "+o", "-O", "+O", "--rcfile", "--init-file")


@dataclass(frozen=True, slots=True, kw_only=True)
class ShellScript:
    """`file` as it is shown, "" for the text of `-c`; `commands` in the order in which they stand."""

    file: str
    commands: tuple[Ran, ...]


def script_of(case: Job, shell: JobProcess) -> ShellScript | None:
    """Returns what a shell ran; None where it is no shell, or its text is not known or no script."""
    given = _given(shell.argv)
    if given is None:
        return None
    options, text, file = given
    if file:
        path = str(PurePosixPath(shell.cwd or case.job.cwd or ".") / file)
        text = case.sources.file(path).text
        file = shown_path(path, case.job.cwd)
    if not text:
        return None
    try:
        return ShellScript(file=file, commands=commands(parse(text), options=options_after(frozenset(), options)))
    except ShellError:
        return None


def command_of(script: ShellScript, child: JobProcess) -> tuple[Ran, ...]:
    """Returns the commands that may have started `child`: those whose words fit its own best."""
    own = {word for one in child.argv for word in (one, PurePosixPath(one).name)}
    scored = [(score, ran) for ran in script.commands if (score := _score(ran, own)) is not None]
    best = max((score for score, _ in scored), default=None)
    return tuple(ran for score, ran in scored if score == best)


def _score(ran: Ran, own: set[str]) -> int | None:
    """Returns how many words fit less those that do not, None where no name of a program does."""
    known = [word for word in ran.words if not _UNKNOWN & set(word)]
    fit = [word for word in known if word in own or PurePosixPath(word).name in own]
    names = [word for word in fit if not word.startswith("-") and not _is_interpreter(word)]
    return len(fit) - (len(known) - len(fit)) if names else None


def _is_interpreter(word: str) -> bool:
    name = PurePosixPath(word).name
    return name.startswith("python") or name in SHELLS or name.isdigit()


def _given(argv: Sequence[str]) -> tuple[tuple[str, ...], str, str] | None:
    """Returns the options of a shell's command line, and its text or the name of its file."""
    if not argv or PurePosixPath(argv[0]).name.lstrip("-") not in SHELLS:
        return None
    options: list[str] = []
    at = 1
    while at < len(argv) and argv[at].startswith(("-", "+")) and argv[at] not in ("-", "--"):
        options.append(argv[at])
        if argv[at] in _WITH_VALUE or argv[at].endswith("o"):
            at += 1
            options.extend(argv[at : at + 1])
        at += 1
    if at >= len(argv):
        return None
    as_text = any(not one.startswith("--") and one.startswith("-") and "c" in one for one in options)
    return (tuple(options), argv[at], "") if as_text else (tuple(options), "", argv[at])
