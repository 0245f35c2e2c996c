"""Which commands of a shell script only say something: as an answer to a failure they are none. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from diagnostics.static.launch_files.compound_commands import functions_around
from diagnostics.static.launch_files.shell_commands import DECLARING, CommandContext
from diagnostics.static.launch_files.shell_lexer import ShellError
from diagnostics.static.launch_files.shell_parser import AndOr, Command, Compound, Pipeline, Simple, parse

_NAMES = re.compile(r"([A-Za-z_]\w*)\+?=", re.ASCII)
# They end with 0 and do nothing about a failure.
_QUIET = frozenset(["true", ":", "echo", "printf", "/bin/true", "/usr/bin/true", "sleep", "date"])
_SAYING = (("echo",), ("printf",), (":",), ("date",))
_ENDS = frozenset(["exit", "return"])
_SINKS = ("/dev/null", "/dev/stderr", "/dev/stdout", "/dev/tty", "1", "2", "&1", "&2")
_MOST_NOTED = 2  # files whose words go into another file
# At the end of a pipe they show or copy what comes, and end with 0 whatever that was.
_COPYING = frozenset(
    ["tee", "cat", "tail", "head", "ts", "sed", "sort", "tr", "less", "more", "logger", "cut", "uniq", "wc", "fold",
     "column", "rotatelogs", "gzip", "xz", "zstd"]
)  # fmt: skip


def is_quiet(pipeline: Pipeline) -> bool:
    """Whether a pipeline only says something, and ends with 0 or leaves with it."""
    found = [one for command in pipeline.commands for one in _inside(command)]
    return bool(found) and all(
        one is not None and _says_only(one, first=not number) for number, one in enumerate(found)
    )


def are_quiet(statements: Iterable[AndOr]) -> bool:
    """Whether each of some statements only says something."""
    return all(is_quiet(pipeline) for statement in statements for pipeline in statement.pipelines)


def is_quiet_text(text: str) -> bool:
    """Whether a script only says something; no where it cannot be read."""
    try:
        return are_quiet(parse(text))
    except ShellError:
        return False


def first_of(pipeline: Pipeline, *through: str) -> Simple | None:
    """Returns the simple command with which a pipeline of one command begins, through groups and these kinds."""
    command = pipeline.commands[0] if len(pipeline.commands) == 1 else None
    while isinstance(command, Compound):
        inner = command.parts[0][0].pipelines[0] if command.kind in ("group", *through) and command.parts[0] else None
        command = inner.commands[0] if inner is not None and len(inner.commands) == 1 else None
    return command


def passes_status_on(command: Simple | None) -> str:
    """Returns "exit" or "return" of a command that leaves with the status of the one before it, else ""."""
    words = [word.text for word in command.words] if command is not None else []
    return words[0] if len(words) == 1 and words[0] in _ENDS else ""


def leaves(pipeline: Pipeline) -> bool:
    """Whether a quiet pipeline ends its function or its shell."""
    found = [one for command in pipeline.commands for one in _inside(command)]
    return any(one is not None and one.words and one.words[0].text in _ENDS for one in found)


def copies(commands: Sequence[Command]) -> bool:
    """Whether the rest of a pipe only shows or copies what comes through it."""
    return all(
        isinstance(one, Simple) and bool(one.words) and one.words[0].text.rpartition("/")[2] in _COPYING
        for one in commands
    )


def files_written(command: Command) -> list[str]:
    """Returns the files that the output of a command goes to."""
    return [
        one.target.text
        for one in command.redirects
        if one.operator in (">", ">>", "&>", "&>>", ">|") and one.target.text not in _SINKS
    ]


def leaves_a_trace(pipelines: Iterable[Pipeline], script: Iterable[CommandContext]) -> bool:
    """Whether something that runs only where a command was good can be seen later: all but words."""
    unread = [one for one in pipelines if not is_quiet(one)]
    return any(_is_seen(one, script) for one in unread)


def _is_seen(pipeline: Pipeline, script: Iterable[CommandContext]) -> bool:
    """Whether a pipeline is more than the assignment of what nobody reads."""
    command = first_of(pipeline)
    if command is None or command.words or command.redirects:
        return True
    names = [token.text.partition("=")[0].partition("[")[0].rstrip("+") for token in command.assignments]
    expanded = re.compile(rf"\$\{{?[#!]?(?:{'|'.join(map(re.escape, names))})\b")
    named = re.compile(rf"\b(?:{'|'.join(map(re.escape, names))})\b")
    others = [one for one in script if one.command is not command]
    texts = [text for one in others for text in written_in(one)]
    exported = [token.text for one in script if one.words[:1] == ("export",) for token in one.command.words]
    arithmetic = (text.partition("((")[2] for text in texts)
    return (
        any(expanded.search(text) for text in texts)
        or any(named.search(text) for text in arithmetic)
        or bool(set(names) & set(exported))
    )


def written_in(ran: CommandContext) -> Iterator[str]:
    """Yields the words of a command as they are written, with those that head the compound commands around it."""
    for token in (*ran.command.assignments, *ran.command.words, *(one.target for one in ran.command.redirects)):
        yield token.text
        yield token.body
    for around in ran.around:
        for token in (*around.header, *(one.target for one in around.redirects)):
            yield token.text


def is_judged(outer: CommandContext, script: Sequence[CommandContext], deep: int = 0) -> bool:
    """Whether more is done with the words of the `$(...)` in a command than to say them, or may be."""
    if outer.words and outer.words[0] not in DECLARING:
        return not _is_only_said(outer, script, deep)
    tokens = (*outer.command.assignments, *outer.command.words[1:])
    names = [named[1] for token in tokens if (named := _NAMES.match(token.text))]
    if not names:
        return True
    expanded = re.compile(rf"\$\{{?[#!]?(?:{'|'.join(map(re.escape, names))})\b")
    return any(
        not _is_only_said(one, script, deep)
        for one in script
        if one.command is not outer.command and any(expanded.search(text) for text in written_in(one))
    )


def _is_only_said(ran: CommandContext, script: Sequence[CommandContext], deep: int = 0) -> bool:
    """Whether a command only says something, or calls a function that does; a `case` or a loop around it may judge."""
    if is_quiet(ran.pipeline) or _is_only_noted(ran, script, deep):
        return True
    name = ran.words[0] if ran.words and len(ran.pipeline.commands) == 1 else ""
    inside = [one for one in script if name and name in functions_around(one) and not one.substituted]
    return bool(inside) and deep < 2 and all(_is_only_said(one, script, deep + 1) for one in inside)


def _is_only_noted(ran: CommandContext, script: Sequence[CommandContext], deep: int) -> bool:
    """Whether a command writes words into files that nothing here reads but to show them."""
    files = files_written(ran.command)
    if not files or deep >= _MOST_NOTED or len(ran.pipeline.commands) != 1 or ran.words[:1] not in _SAYING:
        return False
    readers = [
        one
        for one in script
        if one.command is not ran.command
        and any(file.strip("\"'") in text for text in written_in(one) for file in files)
    ]
    return all(_only_shows(one, files, script, deep) for one in readers)


def _only_shows(ran: CommandContext, files: Sequence[str], script: Sequence[CommandContext], deep: int) -> bool:
    """Whether a command that names such a file removes it, writes into it, too, or shows what is in it."""
    if ran.words[:1] == ("rm",) or (ran.words[:1] in _SAYING and set(files_written(ran.command)) <= set(files)):
        return True
    shown = copies(ran.pipeline.commands) and not any(map(files_written, ran.pipeline.commands))
    into = ran.outer if ran.substituted else None
    return (shown and (into is None or not is_judged(into, script, deep + 1))) or _is_only_said(ran, script, deep + 1)


def _inside(command: Command) -> Iterator[Simple | None]:
    if isinstance(command, Simple):
        yield command
    elif command.kind in ("group", "subshell"):
        for statement in command.parts[0]:
            for pipeline in statement.pipelines:
                for one in pipeline.commands:
                    yield from _inside(one)
    else:
        yield None


def _says_only(command: Simple, *, first: bool) -> bool:
    words = [word.text for word in command.words]
    if not words or any("$?" in word for word in words):  # an assignment keeps it; so may what reads it
        return False
    if words[0] in _ENDS:
        return words[1:] == ["0"] or (words[1:] == [] and not first)
    return words[0] in _QUIET and not files_written(command)
