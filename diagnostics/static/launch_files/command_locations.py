"""Where in a file a command of a script stands, and what stands around it. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from diagnostics.static.launch_files.shell_commands import CommandContext
from diagnostics.static.launch_files.shell_lexer import Token
from diagnostics.static.launch_files.shell_parser import AndOr, Command, Pipeline, Simple
from diagnostics.static.program.project_file import FileKind, ProjectFile

_COMPARES = frozenset(["diff", "cmp", "comm"])
_STATUS = re.compile(r"\$\{?\?|PIPESTATUS|pipestatus")


def place(file: ProjectFile, ran: CommandContext, index: int = 0) -> tuple[int, int]:
    """Returns the line and the column of one word of a command."""
    token = ran.tokens[index] if index < len(ran.tokens) else ran.command.first
    if file.kind is FileKind.SHELL and ran.outer is None:
        return token.line, token.column
    row = file.line(token.line)
    word = ran.words[index] if index < len(ran.words) else ""
    found = row.find(word) if word else -1
    return token.line, (found if found >= 0 else len(row) - len(row.lstrip())) + 1


def levels(ran: CommandContext) -> Iterator[tuple[AndOr, int, Sequence[AndOr]]]:
    """Yields (statement, which of its pipelines holds the command, the statements behind it), innermost first.

    Goes out of what `bash -c` was given, not out of functions: who calls them is not known.
    """
    one: CommandContext | None = ran
    while one is not None:
        around = [*one.around]
        held: set[int] = {id(one.command), *map(id, around)}
        for block in reversed(one.blocks):
            statement = block.statements[block.index]
            if any(
                command.kind == "function" for command in one.around if id(command) in map(id, _commands(statement))
            ):
                return
            at = next((index for index, line in enumerate(statement.pipelines) if _holds(line, held)), None)
            if at is not None:
                yield statement, at, block.after
        one = one.outer


def reads_status(statements: Sequence[AndOr]) -> bool:
    """Whether one of some statements looks at an exit code."""
    return any(_STATUS.search(token.text) for statement in statements for token in tokens_of(statement))


def is_compared(ran: CommandContext, after: Sequence[AndOr]) -> bool:
    """Whether what a command writes to a file is compared with another one behind it: that tells how it went."""
    written = {one.target.text for one in ran.command.redirects if one.operator.endswith(">")}
    return bool(written) and any(
        words[:1] and words[0] in _COMPARES and written & set(words)
        for statement in after
        for one in simple_commands(statement)
        for words in [[word.text for word in one.words]]
    )


def tokens_of(statement: AndOr) -> Iterator[Token]:
    """Yields every word of a statement, in order, with those of what is inside."""
    for command in _commands(statement):
        if isinstance(command, Simple):
            yield from (*command.assignments, *command.words, *(one.target for one in command.redirects))
        else:
            yield from command.header
            for part in command.parts:
                for inner in part:
                    yield from tokens_of(inner)


def simple_commands(statement: AndOr) -> Iterator[Simple]:
    """Yields the simple commands of a statement that no branch or loop may skip."""
    for command in _commands(statement):
        if isinstance(command, Simple):
            yield command
        elif command.kind in ("group", "subshell"):
            for inner in command.parts[0]:
                yield from simple_commands(inner)


def _commands(statement: AndOr) -> Iterator[Command]:
    for pipeline in statement.pipelines:
        yield from pipeline.commands


def _holds(pipeline: Pipeline, held: set[int]) -> bool:
    return any(id(command) in held for command in pipeline.commands)
