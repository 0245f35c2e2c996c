"""The script that a shell of the job ran, and which of its commands one of its children was. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from diagnostics.core.frames import shown_path
from diagnostics.core.redaction import HIDDEN
from diagnostics.dynamic.job.job import Job, JobProcess
from diagnostics.static.launch_files.command_locations import tokens_of
from diagnostics.static.launch_files.compound_commands import functions_around
from diagnostics.static.launch_files.launcher_commands import WRAPPERS
from diagnostics.static.launch_files.shell_commands import SHELLS, CommandContext, commands, options_after
from diagnostics.static.launch_files.shell_lexer import ShellError
from diagnostics.static.launch_files.shell_parser import parse

_UNKNOWN = frozenset("$`*?[{~")  # what the shell had made something else of
_PYTHON = re.compile(r"python[\d.]*[a-z]?")
_SUBSTITUTED = re.compile(r"\$\((?!\()|`|[<>]\(")
_WITH_VALUE = ("-o", "+o", "-O", "+O", "--rcfile", "--init-file")


@dataclass(frozen=True, slots=True, kw_only=True)
class ShellScript:
    """`file` as it is shown, "" for the text of `-c`; `commands` in the order in which they stand.

    `substituted` are the words of it in which other commands may run: `$(...)`.
    """

    file: str
    commands: tuple[CommandContext, ...]
    substituted: tuple[str, ...] = ()


def script_of(job: Job, shell: JobProcess) -> ShellScript | None:
    """Returns what a shell ran; None where it is no shell, or its text is not known or no script."""
    given = _given(shell.argv)
    if given is None:
        return None
    options, text, file = given
    if file:
        path = str(PurePosixPath(shell.cwd or job.facts.cwd or ".") / file)
        text = job.sources.file(path).text
        file = shown_path(path, job.facts.cwd)
    if not text:
        return None
    try:
        statements = parse(text)
        return ShellScript(
            file=file,
            commands=commands(statements, options=options_after(frozenset(), options)),
            substituted=tuple(
                token.text for one in statements for token in tokens_of(one) if _SUBSTITUTED.search(token.text)
            ),
        )
    except ShellError:
        return None


def command_of(script: ShellScript, child: JobProcess) -> tuple[CommandContext, ...]:
    """Returns the commands that may have started `child`: those whose words are its own, as far as they are known.

    () too where `$(...)` or the like may have: what these run is not read.
    """
    named = {PurePosixPath(word).name for word in child.argv if _is_name(word)}
    if any(_SUBSTITUTED.search(text) and any(name in text for name in named) for text in script.substituted):
        return ()
    functions = {name for ran in script.commands for name in functions_around(ran)}
    scored = [(score, ran) for ran in script.commands if (score := _score(ran, child.argv, functions))]
    best = max((score for score, _ in scored), default=None)
    return tuple(ran for score, ran in scored if score == best)


def _score(ran: CommandContext, argv: Sequence[str], functions: set[str]) -> int:
    """Returns how many words fit a child's, 0 where it cannot be the child, or no name of a program says that it is."""
    for start in range(len(ran.words)):
        if start and not _passes_on(ran.words[0], functions):
            break
        words = ran.words[start:]
        if any(map(_is_name, words)) and _fits(words, argv):
            return sum(1 for word in words if _is_known(word))
    return 0


def _fits(words: Sequence[str], argv: Sequence[str]) -> bool:
    """Whether a command line became this one; a shebang puts its interpreter in front."""
    return any(
        _matches(words, argv[front:])
        for front in range(len(argv))
        if all(_is_interpreter(one) or one.startswith("-") for one in argv[:front])
    )


def _matches(words: Sequence[str], argv: Sequence[str]) -> bool:
    """Whether words, of which unknown ones stand for any number, are those of a command line."""
    reached = {0}
    for word in words:
        if not _is_known(word):
            reached = set(range(min(reached), len(argv) + 1))
        else:
            reached = {at + 1 for at in reached if at < len(argv) and _is_same(word, argv[at])}
        if not reached:
            return False
    return len(argv) in reached


def _is_same(word: str, own: str) -> bool:
    name, own_name = PurePosixPath(word).name, PurePosixPath(own).name
    return word == own or own == HIDDEN or name == own_name or (_is_python(name) and _is_python(own_name))


def _is_known(word: str) -> bool:
    return not _UNKNOWN & set(word) and HIDDEN not in word


def _is_name(word: str) -> bool:
    """Whether a word may name a program, rather than an option or an interpreter."""
    return _is_known(word) and not word.startswith("-") and not _is_interpreter(word)


def _passes_on(word: str, functions: set[str]) -> bool:
    """Whether a command becomes, or runs, the command line that stands behind it."""
    return PurePosixPath(word).name in WRAPPERS or word in functions or not _is_known(word)


def _is_python(name: str) -> bool:
    return _PYTHON.fullmatch(name) is not None


def _is_interpreter(word: str) -> bool:
    name = PurePosixPath(word).name
    return _is_python(name) or name in SHELLS or name.isdigit()


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
    single = [one for one in options if re.fullmatch(r"[-+][a-zA-Z]+", one)]
    if at >= len(argv) or any("s" in one for one in single):  # it reads its script from elsewhere
        return None
    as_text = any(not one.startswith("--") and one.startswith("-") and "c" in one for one in options)
    return (tuple(options), argv[at], "") if as_text else (tuple(options), "", argv[at])
