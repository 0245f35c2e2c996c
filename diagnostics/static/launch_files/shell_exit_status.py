"""What becomes of the exit status of a command that failed in a shell script. Pure.

The status is followed outwards from the command, through its pipeline, its list and the compound commands around it,
as a shell does: it is looked at (`if`, `!`, `&&`, `$?`, an answer behind `||`), dropped, or passed on as the script's.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from diagnostics.static.launch_files.command_locations import reads_status, simple_commands, tokens_of
from diagnostics.static.launch_files.shell_commands import Ran
from diagnostics.static.launch_files.shell_lexer import ShellError
from diagnostics.static.launch_files.shell_parser import AndOr, Command, Compound, Pipeline, Simple, parse

# They end with 0 and do nothing about a failure.
QUIET = frozenset(["true", ":", "echo", "printf", "/bin/true", "/usr/bin/true", "sleep", "date"])
_ENDS = frozenset(["exit", "return"])
_KILLS = frozenset(["kill", "pkill", "killall"])
_SINKS = ("/dev/null", "/dev/stderr", "/dev/stdout", "/dev/tty", "1", "2", "&1", "&2")
_MOST_CALLS = 8  # of functions that call each other


class Fate(StrEnum):
    """What became of a failure."""

    DROPPED = "dropped"  # nobody looked at it, and that can be seen
    HANDLED = "handled"  # looked at, or answered
    PASSED = "passed on"  # as the status of the whole
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class StatusFlow:
    """Where a status went, in words, and the places at which that is seen, best first.

    `lines` are those of a script, `places` name their file.
    """

    fate: Fate
    lines: tuple[int, ...] = ()
    places: tuple[str, ...] = ()
    how: str = ""
    by_exception: bool = False


def status_of(ran: Ran, script: Sequence[Ran], *, killed: bool = False) -> StatusFlow:
    """Returns what becomes of the failure of `ran`, one of the commands of `script`.

    `killed` says that it died of a signal: a script that sends one to what it started knows of that end.
    """
    return _Flow(script, killed=killed).of(ran, 0)


def is_conditional(ran: Ran) -> bool:
    """Whether a command stands in a branch, or behind `&&` or `||`."""
    branch = any(around.kind in ("if", "case", "while", "until") for around in ran.around)
    behind = any(_position(ran, block.statements[block.index])[0] > 0 for block in ran.blocks)
    return branch or behind or (ran.outer is not None and is_conditional(ran.outer))


class _Flow:
    def __init__(self, script: Sequence[Ran], *, killed: bool) -> None:
        self.script = script
        self.killed = killed

    def of(self, ran: Ran, deep: int) -> StatusFlow:
        if deep > _MOST_CALLS:
            return StatusFlow(fate=Fate.UNKNOWN)
        in_loop = False
        for block in reversed(ran.blocks):
            statement = block.statements[block.index]
            found = self.in_statement(ran, statement, block.after, deep)
            if found is not None:
                return found
            if "errexit" in ran.options and not ran.tested:
                return self.at_the_end(ran)
            if block.after:
                return self.before(ran, statement, block.after)
            around = _around(ran, block.statements)
            if around is None:
                break
            if _is_test(around, block.statements):
                return StatusFlow(fate=Fate.HANDLED, how=f"`{around.kind}` looks at it")
            if around.kind == "function":
                return self.of_function(around, deep)
            in_loop = in_loop or around.kind in ("for", "while", "until", "select")
        found = self.of(ran.outer, deep + 1) if ran.outer is not None else self.at_the_end(ran)
        if found.fate is Fate.PASSED and in_loop:  # the status of a loop is that of its last round
            return StatusFlow(fate=Fate.DROPPED, lines=(_line(ran),), how="the next round of the loop goes on")
        return found

    def in_statement(self, ran: Ran, statement: AndOr, after: Sequence[AndOr], deep: int) -> StatusFlow | None:
        """Returns where a statement ends the way of the status, None where it becomes the statement's own."""
        at, place = _position(ran, statement)
        pipeline = statement.pipelines[at]
        if place < len(pipeline.commands) - 1 and "pipefail" not in ran.options:
            if any("pipestatus" in token.text.lower() for one in (statement, *after[:2]) for token in tokens_of(one)):
                return StatusFlow(fate=Fate.HANDLED, how="PIPESTATUS is read")
            return StatusFlow(
                fate=Fate.DROPPED, lines=(_line(ran),), how="the pipe ends with the code of its last command"
            )
        if pipeline.negated:
            return StatusFlow(fate=Fate.HANDLED, how="`!` expects it")
        behind = statement.operators[at:]
        if "||" in behind:
            answer = statement.pipelines[at + behind.index("||") + 1 :]
            return self.answered(ran, answer)
        if behind:
            return StatusFlow(fate=Fate.HANDLED, how="`&&` looks at it")
        return self.in_background(ran, deep) if statement.background else None

    def answered(self, ran: Ran, answer: Sequence[Pipeline]) -> StatusFlow:
        """What stands behind `||`: words alone are no answer."""
        if _is_quiet(answer[0]):
            return StatusFlow(fate=Fate.DROPPED, lines=(_line(ran),), how="`||` swallows it")
        return StatusFlow(fate=Fate.HANDLED, how="`||` answers it")

    def in_background(self, ran: Ran, deep: int) -> StatusFlow:
        later = self.script[self.script.index(ran) + 1 :]
        if self.killed and any(one.words[:1] and one.words[0] in _KILLS for one in later):
            return StatusFlow(fate=Fate.HANDLED, how="the script ends it itself")
        waits = [one for one in later if one.words[:1] == ("wait",)]
        bare = [one.line for one in waits if len(one.command.words) == 1]
        if not waits:
            return StatusFlow(fate=Fate.DROPPED, lines=(_line(ran),), how="nothing waits for it")
        if bare:
            return StatusFlow(fate=Fate.DROPPED, lines=(bare[0], _line(ran)), how="`wait` without a job gives 0")
        found = [self.of(one, deep + 1) for one in waits]
        return next((one for one in found if one.fate is not Fate.DROPPED), found[0])

    def before(self, ran: Ran, statement: AndOr, after: Sequence[AndOr]) -> StatusFlow:
        """The command that follows takes the place of the status, if it does not read it."""
        if reads_status(after[:1]):
            return StatusFlow(fate=Fate.HANDLED, how="`$?` is read")
        if any(one.words[:1] == ("trap",) and "ERR" in one.words[2:] and not _quiet_text(one.words[1])
               for one in self.script):  # fmt: skip
            return StatusFlow(fate=Fate.HANDLED, how="the trap for ERR answers it")
        ends = [*self.exits_0(after), *self.trapped()]
        return StatusFlow(fate=Fate.DROPPED, lines=(*ends, _line(ran)), how="the script goes on without a look at it")

    def exits_0(self, after: Sequence[AndOr]) -> list[int]:
        return [
            one.first.line
            for statement in after
            for one in simple_commands(statement)
            if [word.text for word in one.words[:2]] == ["exit", "0"] and not statement.operators
        ]

    def of_function(self, function: Compound, deep: int) -> StatusFlow:
        """A function ends with the status of its last command, wherever it is called."""
        name = function.header[0].text if function.header else ""
        calls = [self.of(one, deep + 1) for one in self.script if one.words[:1] == (name,)]
        fates = {one.fate for one in calls}
        return calls[0] if len(fates) == 1 else StatusFlow(fate=Fate.UNKNOWN)

    def at_the_end(self, ran: Ran) -> StatusFlow:
        """The script ends with it, unless a trap says otherwise."""
        trapped = self.trapped()
        if trapped:
            return StatusFlow(fate=Fate.DROPPED, lines=(*trapped, _line(ran)), how="the trap at the end says 0")
        return StatusFlow(fate=Fate.PASSED)

    def trapped(self) -> list[int]:
        """Returns the lines of `exit 0` in traps for the script's end, and in the functions that these call."""
        lines = []
        for trap in self.script:
            if trap.words[:1] != ("trap",) or len(trap.words) < 3 or not {"EXIT", "0", "ERR"} & set(trap.words[2:]):
                continue
            if re.search(r"(?:^|[;&{\s])exit\s+0\s*(?:$|[;}])", trap.words[1]):
                lines.append(trap.line)
            lines.extend(
                one.line for one in self.script if _in_function(one, trap.words[1]) and one.words[:2] == ("exit", "0")
            )
        return lines


def _line(ran: Ran) -> int:
    """Returns the line that names the script which is run, of a command that goes over several."""
    named = (token.line for token in ran.tokens if token.text.endswith((".py", ".sh")))
    return next(named, ran.line)


def _in_function(ran: Ran, text: str) -> bool:
    names = {one.header[0].text for one in ran.around if one.kind == "function" and one.header}
    return bool(names & set(text.replace(";", " ").split()))


def _position(ran: Ran, statement: AndOr) -> tuple[int, int]:
    """Returns which pipeline of the statement holds the command, and at which place."""
    held = {id(ran.command), *map(id, ran.around)}
    for at, pipeline in enumerate(statement.pipelines):
        for place, command in enumerate(pipeline.commands):
            if id(command) in held:
                return at, place
    return 0, 0


def _around(ran: Ran, statements: tuple[AndOr, ...]) -> Compound | None:
    """Returns the compound command whose part these statements are."""
    return next((one for one in reversed(ran.around) if any(part is statements for part in one.parts)), None)


def _is_test(around: Compound, statements: tuple[AndOr, ...]) -> bool:
    index = next(number for number, part in enumerate(around.parts) if part is statements)
    if around.kind in ("while", "until"):
        return index == 0
    return around.kind == "if" and index % 2 == 0 and index < len(around.parts) - 1


def _is_quiet(pipeline: Pipeline) -> bool:
    """Whether what stands behind `||` only says something, and ends with 0."""
    found = [one for command in pipeline.commands for one in _inside(command)]
    return bool(found) and all(one is not None and _says_only(one) for one in found)


def _quiet_text(text: str) -> bool:
    try:
        return all(_is_quiet(pipeline) for statement in parse(text) for pipeline in statement.pipelines)
    except ShellError:
        return False


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


def _says_only(command: Simple) -> bool:
    words = [word.text for word in command.words]
    if not words or any("$?" in word for word in words):  # an assignment keeps it; so may what reads it
        return False
    if words[0] in _ENDS:
        return words[1:] in ([], ["0"])
    to_file = any(one.operator in (">", ">>", "&>", "&>>", ">|") and one.target.text not in _SINKS
                  for one in command.redirects)  # fmt: skip
    return words[0] in QUIET and not to_file
