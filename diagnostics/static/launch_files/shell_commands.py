"""The simple commands of a shell script in the order in which they stand, with what is known where each one runs. Pure.

Assignments in branches, loops and functions make a variable unknown. What `bash -c` and here-documents for a shell hold
is read too; what `$(...)` runs and what `source` reads only where the caller asks.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath

from diagnostics.static.launch_files.shell_expansion import Value, array_of, expand, substitutions_in, text_of
from diagnostics.static.launch_files.shell_lexer import ShellError, Token
from diagnostics.static.launch_files.shell_parser import AndOr, Command, Compound, Pipeline, Simple, parse

MOST_VARIABLES = 1000
DEEPEST_SCRIPT = 4
SHELLS = frozenset(["sh", "bash", "zsh", "dash", "ksh"])
_NAME = re.compile(r"([A-Za-z_]\w*)(\+)?=", re.ASCII)
DECLARING = frozenset(["export", "declare", "typeset", "local", "readonly"])
_TESTS = frozenset(["[", "[[", "test", "grep", "command", "which", "type", "((", "hash"])


Sourced = Callable[[str], tuple[str, str] | None]  # the name and the text of a file; None where it is not known


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """A list of statements and which of them is meant."""

    statements: tuple[AndOr, ...]
    index: int

    @property
    def after(self) -> tuple[AndOr, ...]:
        """The statements behind it."""
        return self.statements[self.index + 1 :]


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandContext:
    """One simple command. `words` are expanded, `tokens` those they come from, one for each word.

    `blocks` and `around` lead from the script to it: statement lists, and compound commands (the last is innermost).
    `outer` is the command whose text it is in: `bash -c "..."`, or `x=$(...)` where it is `substituted`. `file` is the
    name of the sourced file that it stands in, "" in the script itself.
    """

    command: Simple
    words: tuple[str, ...]
    tokens: tuple[Token, ...]
    assigned: Mapping[str, Value]
    variables: Mapping[str, Value]
    exported: frozenset[str]
    options: frozenset[str]
    pipeline: Pipeline
    and_or: AndOr
    blocks: tuple[Block, ...]
    around: tuple[Compound, ...]
    tested: bool
    outer: CommandContext | None = None
    substituted: bool = False
    file: str = ""

    @property
    def line(self) -> int:
        """The line a reviewer would comment on: that of the program, or of the first assignment."""
        return (self.tokens[0] if self.tokens else self.command.first).line

    @property
    def column(self) -> int:
        """The column of it; that of the command that holds its text."""
        if self.outer is not None:
            return self.outer.column
        return (self.tokens[0] if self.tokens else self.command.first).column

    @property
    def environment(self) -> dict[str, Value]:
        """What the command gets from the script in its environment; None where the value is not known."""
        return {**{name: self.variables.get(name) for name in sorted(self.exported)}, **self.assigned}

    def value(self, name: str) -> str:
        """Returns a variable of its environment, "" where it is not set or not known."""
        value = self.environment.get(name)
        return value if isinstance(value, str) else ""


@dataclass(slots=True)
class _State:
    variables: dict[str, Value] = field(default_factory=dict)
    exported: frozenset[str] = frozenset()
    options: frozenset[str] = frozenset()

    def copy(self) -> _State:
        return _State(self.variables, self.exported, self.options)

    def assign(self, name: str, value: Value) -> None:
        if name in self.variables or len(self.variables) < MOST_VARIABLES:
            self.variables = {**self.variables, name: value}
        if "allexport" in self.options:
            self.exported |= {name}


def commands(
    statements: tuple[AndOr, ...],
    *,
    options: frozenset[str] = frozenset(),
    environment: Mapping[str, Value] | None = None,
    sourced: Sourced | None = None,
) -> tuple[CommandContext, ...]:
    """Returns the commands of a script that starts with these options and variables of the environment.

    `sourced` tells what a word behind `source` stands for; with it, `$(...)` is read too.
    """
    given = dict(environment or {})
    return tuple(_Walk(_State(given, frozenset(given), options), sourced).block(statements, _Here()))


@dataclass(frozen=True, slots=True)
class _Here:
    """Where in the script the walk is."""

    blocks: tuple[Block, ...] = ()
    around: tuple[Compound, ...] = ()
    conditional: bool = False
    tested: bool = False
    outer: CommandContext | None = None
    deep: int = 0
    substituted: bool = False
    file: str = ""

    def inside(self, command: Compound, *, tested: bool) -> _Here:
        conditional = self.conditional or command.kind not in ("group", "subshell")
        around = (*self.around, command)
        return replace(self, around=around, conditional=conditional, tested=self.tested or tested)

    def within(self, ran: CommandContext, *, substituted: bool = False, file: str = "") -> _Here:
        """The text that a command holds or reads."""
        return replace(self, blocks=(), outer=ran, deep=self.deep + 1, substituted=substituted, file=file or self.file)


class _Walk:
    def __init__(self, state: _State, sourced: Sourced | None = None) -> None:
        self.state = state
        self.sourced = sourced

    def block(self, statements: tuple[AndOr, ...], here: _Here) -> Iterator[CommandContext]:
        for index, statement in enumerate(statements):
            blocks = (*here.blocks, Block(statements=statements, index=index))
            yield from self.and_or(statement, replace(here, blocks=blocks))

    def and_or(self, statement: AndOr, here: _Here) -> Iterator[CommandContext]:
        unsure = here.conditional
        for index, pipeline in enumerate(statement.pipelines):
            operator = statement.operators[index - 1] if index else ""
            unsure = unsure or operator == "||" or (operator == "&&" and _is_test(statement.pipelines[index - 1]))
            # What && and || follow is looked at by the shell; what fails there ends nothing.
            tested = here.tested or pipeline.negated or "&&" in statement.operators[index : index + 1]
            at = replace(here, conditional=unsure, tested=tested)
            for command in pipeline.commands:
                yield from self.command(command, pipeline, statement, at)

    def command(self, command: Command, pipeline: Pipeline, statement: AndOr, here: _Here) -> Iterator[CommandContext]:
        if isinstance(command, Simple):
            yield from self.simple(command, pipeline, statement, here)
            return
        kept = self.state.copy()
        if command.kind in ("for", "select") and command.header:
            self.state.assign(command.header[0].text, None)
        for index, part in enumerate(command.parts):
            tests = command.kind in ("while", "until") and index == 0
            tests = tests or (command.kind == "if" and index % 2 == 0 and index < len(command.parts) - 1)
            yield from self.block(part, here.inside(command, tested=tests))
        if command.kind == "subshell":
            self.state = kept

    def simple(self, command: Simple, pipeline: Pipeline, statement: AndOr, here: _Here) -> Iterator[CommandContext]:
        assigned = dict(self.assignments(command.assignments))
        words: list[str] = []
        tokens: list[Token] = []
        for token in command.words:
            found = expand(token.text, self.state.variables)
            words.extend(found)
            tokens.extend([token] * len(found))
        ran = CommandContext(
            command=command,
            words=tuple(words),
            tokens=tuple(tokens),
            assigned=assigned,
            variables=self.state.variables,
            exported=self.state.exported,
            options=self.state.options,
            pipeline=pipeline,
            and_or=statement,
            blocks=here.blocks,
            around=here.around,
            tested=here.tested,
            outer=here.outer,
            substituted=here.substituted,
            file=here.file,
        )
        self.take_effect(ran, sure=not here.conditional and len(pipeline.commands) == 1)
        yield ran
        yield from self.text_inside(ran, here)

    def assignments(self, tokens: tuple[Token, ...]) -> Iterator[tuple[str, Value]]:
        for token in tokens:
            named = _NAME.match(token.text)
            if named is None:  # array[3]=x
                continue
            written = token.text[named.end() :]
            array = array_of(written, self.state.variables)
            value: Value = array if array is not None else text_of(written, self.state.variables)
            if named[2]:
                value = _joined(self.state.variables.get(named[1]), value)
            yield named[1], value

    def take_effect(self, ran: CommandContext, *, sure: bool) -> None:
        program = ran.words[0] if ran.words else ""
        if not program:
            for name, value in ran.assigned.items():
                self.state.assign(name, value if sure else None)
        elif program in DECLARING:
            self.declare(ran, sure=sure)
        elif program == "set":
            self.state.options = options_after(self.state.options, ran.words[1:])
        elif program == "unset":
            self.state.exported -= set(ran.words[1:])
        elif program in ("read", "getopts", "mapfile", "readarray"):
            for name in ran.words[1:]:
                if name.isidentifier():
                    self.state.assign(name, None)

    def declare(self, ran: CommandContext, *, sure: bool) -> None:
        exports = ran.words[0] == "export" or any(re.fullmatch(r"-[a-zA-Z]*x[a-zA-Z]*", word) for word in ran.words)
        for token in ran.command.words[1:]:
            named = _NAME.match(token.text)
            name = named[1] if named else token.text
            if not name.isidentifier():
                continue
            for _, value in self.assignments((token,)) if named else ():
                self.state.assign(name, value if sure else None)
            if exports and (ran.words[1:2] != ("-n",)):
                self.state.exported |= {name}

    def text_inside(self, ran: CommandContext, here: _Here) -> Iterator[CommandContext]:
        """Yields the commands of the script that a shell is given as text."""
        if here.deep >= DEEPEST_SCRIPT:
            return
        if self.sourced is not None:
            yield from self.substituted(ran, here)
            yield from self.read_in(ran, here)
        text, token, given = _script_of(ran)
        if not text:
            return
        try:
            statements = parse(text, token.line)
        except ShellError:
            return
        exported = self.state.exported | frozenset(ran.assigned)
        inner = _State({**self.state.variables, **ran.assigned}, exported, options_after(frozenset(), given))
        yield from _Walk(inner, self.sourced).block(statements, here.within(ran))

    def substituted(self, ran: CommandContext, here: _Here) -> Iterator[CommandContext]:
        """Yields the commands in the `$(...)` of a command; bash does not end these shells early for `set -e`."""
        inner = _State(self.state.variables, self.state.exported, self.state.options - {"errexit"})
        command = ran.command
        tokens = (*command.assignments, *command.words, *(one.target for one in command.redirects))
        for text, line in (found for token in tokens for found in substitutions_in(token)):
            try:
                statements = parse(text, line)
            except ShellError:
                continue
            yield from _Walk(inner.copy(), self.sourced).block(statements, here.within(ran, substituted=True))

    def read_in(self, ran: CommandContext, here: _Here) -> Iterator[CommandContext]:
        """Yields the commands of the file that `source` reads, which the same shell runs."""
        reads = ran.words[0] in (".", "source") if len(ran.words) > 1 else False
        file, text = (self.sourced(ran.words[1]) if reads and self.sourced else None) or ("", "")
        try:
            statements = parse(text)
        except ShellError:
            return
        yield from self.block(statements, here.within(ran, file=file))


def _script_of(ran: CommandContext) -> tuple[str, Token, tuple[str, ...]]:
    """Returns the script that a command hands to a shell as text, the token it is in, and the shell's options.

    "" where it hands none.
    """
    words = ran.words
    shell = next((index for index, word in enumerate(words) if PurePosixPath(word).name in SHELLS), None)
    if shell is None:
        whole = words[:1] == ("eval",) and len(words) == 2
        return (words[1] if whole else ""), (ran.tokens[1] if whole else ran.command.first), ()
    for index in range(shell + 1, len(words) - 1):
        if not words[index].startswith(("-", "+")) and not re.fullmatch(r"[-+][a-zA-Z]*o", words[index - 1]):
            break
        if re.fullmatch(r"-[a-z]*c[a-z]*", words[index]):
            script = index + 1
            while script < len(words) - 1 and words[script].startswith("-"):
                script += 1
            return words[script], ran.tokens[script], words[shell + 1 : script]
    for one in ran.command.redirects:
        if one.operator in ("<<", "<<-") and one.target.body and _reads_input(words[shell + 1 :]):
            return one.target.body, Token("word", "", one.target.line + 1, 1), ()
    return "", ran.command.first, ()


def _reads_input(words: tuple[str, ...]) -> bool:
    """Whether a shell with these words behind it reads its script from its input: `bash`, `bash -l`, `bash -s -- 4`."""
    first = next((index for index, word in enumerate(words) if not word.startswith(("-", "+"))), len(words))
    return first == len(words) or any(re.fullmatch(r"-[a-z]*s", word) for word in words[:first])


def options_after(before: frozenset[str], words: tuple[str, ...]) -> frozenset[str]:
    """Returns the options after `set words`: errexit, pipefail, allexport and the like."""
    after = set(before)
    letters = {"e": "errexit", "a": "allexport", "u": "nounset"}
    named = adds = False
    for word in words:
        if named:
            named = False
            _switch(after, word, on=adds)
        elif re.fullmatch(r"[-+][a-zA-Z]+", word):
            adds = word.startswith("-")
            for letter in word[1:]:
                if letter in letters:
                    _switch(after, letters[letter], on=adds)
            named = word.endswith("o")
    return frozenset(after)


def _switch(options: set[str], name: str, *, on: bool) -> None:
    (options.add if on else options.discard)(name)


def _joined(before: Value, more: Value) -> Value:
    if isinstance(before, tuple) and isinstance(more, tuple):
        return before + more
    return before + more if isinstance(before, str) and isinstance(more, str) else None


def _is_test(pipeline: Pipeline) -> bool:
    first = pipeline.commands[0]
    return not isinstance(first, Simple) or not first.words or first.words[0].text.startswith(tuple(_TESTS))
