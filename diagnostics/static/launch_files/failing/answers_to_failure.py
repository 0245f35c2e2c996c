"""What a script does about a command whose exit code it reads in `$?` behind it. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from diagnostics.static.launch_files.command_locations import reads_status, tokens_of
from diagnostics.static.launch_files.compound_commands import compound_of, is_test, position_in
from diagnostics.static.launch_files.shell_commands import DECLARING, Block, CommandContext
from diagnostics.static.launch_files.shell_parser import AndOr, Command, Compound, Pipeline, Simple

_KEPT = re.compile(r"([A-Za-z_]\w*)=\"?(?:\$\{?\?|\$\{PIPESTATUS)")
_STATUS = re.compile(r"\$\{?\?|PIPESTATUS")
_IS_0 = re.compile(r"(?:-eq|-lt|==?)\s*[\"']?[01]\b")
_IS_NOT_0 = re.compile(r"(?:-ne|-gt|!=|>)\s*[\"']?0\b|(?:-eq|-ge|==?)\s*[\"']?[1-9]")
_IS_TRUE = re.compile(r"\(\(\s*+\$?\{?\w{1,40}\}?\s*+\)\)")
_TESTS = frozenset(["[", "[[", "test", "(("])
# They say something or look, and change nothing that somebody would miss behind a failure.
_WORDS = frozenset(
    ["echo", "printf", "true", ":", "date", "sleep", "set", "shift", "wait", "tail", "cat", "popd", "cd", "deactivate",
     "unset"]
)  # fmt: skip
_LEAVES = frozenset(["exit", "return"])
_GOES_ON = frozenset(["continue", "break"])
_LOOPS = ("while", "until", "for")


@dataclass(frozen=True, slots=True, kw_only=True)
class StatusRead:
    """The statement that reads a command's exit code, the block it stands in, and the command it is of."""

    statement: AndOr
    block: Block
    ran: CommandContext
    line: int

    @property
    def later(self) -> tuple[AndOr, ...]:
        """What follows the reading in its block."""
        return self.block.after[1:]


@dataclass(frozen=True, slots=True, kw_only=True)
class LostAnswer:
    """What is to be done where a command failed, in words, and where."""

    what: str
    line: int


def status_read_behind(ran: CommandContext) -> StatusRead | None:
    """Returns where the exit code of a command is read in the statement behind it, or behind what it ends."""
    for block in reversed(ran.blocks):
        statement = block.statements[block.index]
        at, number = position_in(ran, statement)
        pipeline = statement.pipelines[at]
        piped = number < len(pipeline.commands) - 1 and "pipefail" not in ran.options
        if statement.operators or statement.background or pipeline.negated or piped:
            return None
        if block.after:
            if not reads_status(block.after[:1]):
                return None
            token = next(one for one in tokens_of(block.after[0]) if _STATUS.search(one.text))
            return StatusRead(statement=block.after[0], block=block, ran=ran, line=token.line)
        around = compound_of(ran, block)
        if around is None or around.kind not in ("group", "subshell", "if") or is_test(around, block):
            return None
    return None


def answer_to(read: StatusRead) -> LostAnswer | None:
    """Returns what is done where that code is not 0, beside saying so and ending with it; None for nothing."""
    name = _kept_as(read.statement)
    known = re.escape(name)
    asked = re.compile(rf"\$\{{?{known}\b|\b{known}\b\s{{0,8}}[-!=<>)]") if name else _STATUS
    tests = read.later if name else (read.statement, *read.later)
    loop = compound_of(read.ran, read.block)
    loop = loop if loop is not None and loop.kind in _LOOPS else None
    for number, statement in enumerate(tests if name else tests[:1]):
        found = _of_test(statement, asked, tests[number + 1 :], loop)
        if found is not None:
            return found
    return (_before_end(read, asked) or _again(read, asked)) if name else None


def _kept_as(statement: AndOr) -> str:
    """Returns the variable that `$?` is kept in."""
    for command in statement.pipelines[0].commands[:1]:
        if isinstance(command, Simple):
            words = command.words if command.words and command.words[0].text in DECLARING else ()
            if command.words and not words:
                return ""
            for token in (*command.assignments, *words):
                if (kept := _KEPT.match(token.text)) is not None:
                    return kept[1]
    return ""


def _of_test(
    statement: AndOr, asked: re.Pattern[str], after: Sequence[AndOr], loop: Compound | None
) -> LostAnswer | None:
    """What a test of the code leads to where that is not 0."""
    failed, leads = _failed_way(statement, asked, after)
    if failed is None:
        return None
    found = _first_deed(failed)
    if found is not None or loop is None or not leads or any(map(_leaves, (*failed, *after))):
        return found
    return LostAnswer(what=f"the next round of '{loop.kind}'", line=loop.first.line)


def _failed_way(
    statement: AndOr, asked: re.Pattern[str], after: Sequence[AndOr]
) -> tuple[Sequence[AndOr] | None, bool]:
    """Returns what a test lets run where the code is not 0, None without such a test, and whether that can go on."""
    first = statement.pipelines[0].commands[0]
    if isinstance(first, Compound) and first.kind == "if":
        for number in range(0, len(first.parts) - 1, 2):
            good = _is_good(first.parts[number], asked)
            if good is False:
                return first.parts[number + 1], True
            if good and number + 3 == len(first.parts):
                return first.parts[number + 2], True
            if good and len(first.parts) == 2:
                return (after, True) if _ends_by_leaving(first.parts[1]) else (None, False)
        return None, False
    good = _is_good((AndOr(pipelines=statement.pipelines[:1]),), asked)
    if good is not None and statement.operators[:1] == ("||" if good else "&&",):
        return (AndOr(pipelines=statement.pipelines[1:], operators=statement.operators[1:]),), True
    if good and statement.operators[:1] == ("&&",) and _ends_by_leaving((AndOr(pipelines=statement.pipelines[1:]),)):
        return after, True
    return None, False


def _is_good(test: Sequence[AndOr], asked: re.Pattern[str]) -> bool | None:
    """Whether a test is true where the code is 0; None where it is about something else, or not understood."""
    if not test or len(test) > 1 or len(test[0].pipelines) > 1:
        return None
    pipeline = test[0].pipelines[0]
    command = pipeline.commands[0]
    text = _text(command)
    if not isinstance(command, Simple) or not asked.search(text):
        return None
    if not command.words or not command.words[0].text.startswith(tuple(_TESTS)):
        return None
    if _IS_NOT_0.search(text) or _IS_TRUE.fullmatch(text):
        return pipeline.negated
    return not pipeline.negated if _IS_0.search(text) else None


def _before_end(read: StatusRead, asked: re.Pattern[str]) -> LostAnswer | None:
    """What is done between the reading and an `exit $code`: it was to be done after a failure, too."""
    for number, statement in enumerate(read.later):
        words = [_text(one) for one in _simple(statement.pipelines)]
        if any(text.startswith(tuple(_LEAVES)) and asked.search(text) for text in words):
            return _first_deed(read.later[:number], noting=False)
    return None


def _again(read: StatusRead, asked: re.Pattern[str]) -> LostAnswer | None:
    """The next round of a loop that goes on while the code is not 0."""
    around = compound_of(read.ran, read.block)
    if around is None or around.kind not in ("while", "until"):
        return None
    good = _is_good(around.parts[0], asked)
    if good is None or good is not (around.kind == "until"):
        return None
    return LostAnswer(what=f"the next round of '{around.kind}'", line=around.first.line)


def _first_deed(statements: Sequence[AndOr], *, noting: bool = True) -> LostAnswer | None:
    """Returns the first command that does more than to say something and to leave.

    What is set counts where the script does not leave behind it, with `noting`.
    """
    noted: LostAnswer | None = None
    for statement in statements:
        for one in _simple(statement.pipelines):
            words = [token.text for token in one.words]
            name = words[0].rpartition("/")[2] if words else ""
            kept = any(redirect.operator in (">", ">>") and not redirect.target.text.startswith(("/dev/", "&"))
                       for redirect in one.redirects)  # fmt: skip
            if (name in _WORDS and not kept) or name in _LEAVES | DECLARING or name.startswith(tuple(_TESTS)):
                continue
            found = LostAnswer(what=f"'{_text(one)[:40]}'", line=one.first.line)
            if words:
                return found
            noted = noted or (found if noting else None)
        if _leaves(statement):
            return None
    return noted


def _leaves(statement: AndOr) -> bool:
    """Whether a statement ends its function or script under no condition."""
    first = statement.pipelines[0].commands[0]
    if isinstance(first, Compound):
        return first.kind == "group" and any(map(_leaves, first.parts[0]))
    return not statement.operators and bool(first.words) and first.words[0].text in _LEAVES


def _ends_by_leaving(statements: Sequence[AndOr]) -> bool:
    last = list(_simple(statements[-1].pipelines)) if statements else []
    return bool(last) and bool(last[-1].words) and last[-1].words[0].text in _LEAVES | _GOES_ON


def _simple(pipelines: Sequence[Pipeline]) -> Iterator[Simple]:
    """Yields the simple commands of some pipelines, those in branches and loops, too."""
    for pipeline in pipelines:
        for command in pipeline.commands:
            if isinstance(command, Simple):
                yield command
            else:
                for part in command.parts:
                    for statement in part:
                        yield from _simple(statement.pipelines)


def _text(command: Command) -> str:
    if not isinstance(command, Simple):
        return ""
    return " ".join(token.text for token in (*command.assignments, *command.words))
