"""The script that a shell of the job ran, and which of its commands one of its children was. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from diagnostics.core.frames import shown_path
from diagnostics.core.redaction import HIDDEN
from diagnostics.dynamic.job.job import Job, JobProcess
from diagnostics.dynamic.launch.shell_files import script_given, sourced_paths
from diagnostics.static.launch_files.command_locations import tokens_of
from diagnostics.static.launch_files.compound_commands import functions_around
from diagnostics.static.launch_files.launcher_commands import WRAPPERS
from diagnostics.static.launch_files.shell_commands import SHELLS, CommandContext, commands, options_after
from diagnostics.static.launch_files.shell_lexer import ShellError
from diagnostics.static.launch_files.shell_parser import parse

_UNKNOWN = frozenset("$`*?[{~")  # what the shell had made something else of
_PYTHON = re.compile(r"python[\d.]*[a-z]?")
_PROCESS = re.compile(r"[<>]\(")
_SUBSTITUTED = re.compile(r"\$\((?!\()|`|[<>]\(")


@dataclass(frozen=True, slots=True, kw_only=True)
class ShellScript:
    """`file` as it is shown, "" for the text of `-c`; `commands` in the order in which they stand.

    They are those of the files it sources and of `$(...)`, too; `unread` are words in which others may run: `<(...)`,
    and what heads a loop.
    """

    file: str
    commands: tuple[CommandContext, ...]
    unread: tuple[str, ...] = ()


def script_of(job: Job, shell: JobProcess) -> ShellScript | None:
    """Returns what a shell ran; None where it is no shell, or its text is not known or no script."""
    given = script_given(shell.argv)
    if given is None:
        return None
    options, text, file = given
    folder = PurePosixPath(shell.cwd or job.facts.cwd or ".")
    path = folder / file
    if file:
        text = job.sources.file(str(path)).text
        file = shown_path(str(path), job.facts.cwd)
    if not text:
        return None

    def sourced(word: str) -> tuple[str, str] | None:
        """The file that a word behind `source` stands for, where the record has one file that it can be."""
        for one in sourced_paths(word, (folder, path.parent) if file else (folder,)):
            if found := job.sources.file(one).text:
                return shown_path(one, job.facts.cwd), found
        return None

    try:
        statements = parse(text)
    except ShellError:
        return None
    ran = commands(statements, options=options_after(frozenset(), options), sourced=sourced)
    read = {id(token) for one in ran for token in (*one.command.assignments, *one.command.words)}
    tokens = (token for one in statements for token in tokens_of(one))
    unread = (one.text for one in tokens if (_PROCESS if id(one) in read else _SUBSTITUTED).search(one.text))
    return ShellScript(file=file, commands=ran, unread=tuple(unread))


def command_of(script: ShellScript, child: JobProcess) -> tuple[CommandContext, ...]:
    """Returns the commands that may have started `child`: those whose words are its own, as far as they are known.

    () too where words that are not read may have.
    """
    named = {PurePosixPath(word).name for word in child.argv if _is_name(word)}
    if any(_SUBSTITUTED.search(text) and any(name in text for name in named) for text in script.unread):
        return ()
    functions = {name for ran in script.commands for name in functions_around(ran)}
    scored = [(score, ran) for ran in script.commands if (score := _score(ran, child.argv, functions))]
    if len({ran.substituted for _, ran in scored}) > 1:  # its words alone do not tell in which of two ways it ran
        return tuple(ran for _, ran in scored)
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
