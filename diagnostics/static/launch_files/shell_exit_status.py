"""What becomes of the exit status of a command that failed in a shell script. Pure.

The status is followed outwards from the command, through its pipeline, its list and the compound commands around it,
as a shell does: it is looked at (`if`, `!`, `&&`, `$?`, an answer behind `||`), dropped, or passed on as the script's.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from diagnostics.static.launch_files.background_jobs import Jobs, in_trap
from diagnostics.static.launch_files.command_locations import reads_status, simple_commands, tokens_of
from diagnostics.static.launch_files.compound_commands import (
    compound_of,
    functions_around,
    has_an_answer,
    is_test,
    pipes_behind,
    position_in,
)
from diagnostics.static.launch_files.file_checks import checks_files_after
from diagnostics.static.launch_files.quiet_commands import (
    are_quiet,
    copies,
    files_written,
    first_of,
    is_judged,
    is_quiet,
    is_quiet_text,
    leaves,
    leaves_a_trace,
    passes_status_on,
    written_in,
)
from diagnostics.static.launch_files.shell_commands import CommandContext
from diagnostics.static.launch_files.shell_parser import AndOr, Command, Compound, Pipeline
from diagnostics.static.launch_files.status_flow import Fate, ScriptPlace, StatusFlow

OWN_STATUS = "has a status of its own"
_MOST_CALLS = 8  # of functions that call each other
_PASSING_WORDS = frozenset(["retry", "time", "eval", "trap", "xargs", "parallel", "export"])
_GIVEN = ("$@", "$*", "${@", "${*", "$1", "${1", "$2", "${2")  # how a function runs the words it was given
_NO_RUN = frozenset(["echo", "printf", "local", "shift", "[", "[[", "test", "export", "declare", "trap", "set"])


def status_of(ran: CommandContext, script: Sequence[CommandContext], *, killed: bool = False) -> StatusFlow:
    """Returns what becomes of the failure of `ran`, one of the commands of `script`.

    `killed` says that somebody may have ended it: a script that sends signals to what it started knows of that end.
    """
    found = _Flow(script).of_started(ran)
    if found.fate is not Fate.DROPPED:
        return found
    if killed and Jobs(script).may_end(ran):
        return StatusFlow(fate=Fate.HANDLED, how="the script ends it itself")
    check = checks_files_after(ran, script)
    if check is not None and not found.at_end:
        return StatusFlow(fate=Fate.UNKNOWN, how=f"line {check.line} looks at what it left")
    return found


def is_conditional(ran: CommandContext) -> bool:
    """Whether a command stands in a branch, or behind `&&` or `||`."""
    branch = any(around.kind in ("if", "case", "while", "until") for around in ran.around)
    behind = any(position_in(ran, block.statements[block.index])[0] > 0 for block in ran.blocks)
    return branch or behind or (ran.outer is not None and is_conditional(ran.outer))


class _Flow:
    def __init__(self, script: Sequence[CommandContext]) -> None:
        self.script = script
        self.jobs = Jobs(script)
        self.through: dict[str, CommandContext] = {}  # functions by the one call that is meant

    def of_started(self, ran: CommandContext) -> StatusFlow:
        """A function that is handed a command line runs it somewhere inside."""
        name = ran.words[0] if ran.words else ""
        inside = [one for one in self.script if name and name in functions_around(one)]
        if not inside or name in self.through:
            return self.of(ran, 0)
        self.through[name] = ran
        given = [one for one in inside if _runs_what_is_given(one)]
        return _agreed([self.of_started(one) for one in given])

    def of(self, ran: CommandContext, deep: int) -> StatusFlow:
        return self.outwards(ran, len(ran.blocks), deep)

    def outwards(self, ran: CommandContext, levels: int, deep: int, *, piped: bool = False) -> StatusFlow:
        """Follows the status of the statement at the innermost of so many levels; `piped`, that of its whole pipe."""
        if deep > _MOST_CALLS:
            return StatusFlow(fate=Fate.UNKNOWN)
        in_loop = False
        for level in range(levels, 0, -1):
            block = ran.blocks[level - 1]
            found = self.in_statement(ran, level, deep, piped=piped and level == levels)
            if found is not None:
                return found
            if self.ends_at_once(ran, deep):
                return self.of_outer(ran, deep) if ran.substituted else self.at_the_end(ran)
            if block.after:
                return self.before(ran, level, deep)
            around = compound_of(ran, block)
            if around is None:
                break
            if is_test(around, block):
                return StatusFlow(fate=Fate.HANDLED, how=f"`{around.kind}` looks at it")
            if around.kind == "function":
                return self.of_function(around, deep)
            in_loop = in_loop or around.kind in ("for", "while", "until", "select")
        found = self.of_outer(ran, deep)
        if found.fate is Fate.PASSED and in_loop:  # the status of a loop is that of its last round
            return _dropped("the next round of the loop goes on", _place(ran))
        return found

    def of_outer(self, ran: CommandContext, deep: int) -> StatusFlow:
        """A text ends with its last status, which is that of the command that holds it; of `$(...)`, only in `x=`."""
        outer = ran.outer
        if outer is None:
            return self.at_the_end(ran)
        if not ran.substituted:
            return self.of(outer, deep + 1)
        found = self.of(outer, deep + 1)
        if outer.words:
            found = _dropped(f"`{outer.words[0]}` {OWN_STATUS}, whatever `$(...)` ended with", _place(outer))
        judged = found.fate is Fate.DROPPED and is_judged(outer, self.script)
        return StatusFlow(fate=Fate.UNKNOWN, how="the script looks at what it wrote") if judged else found

    def ends_at_once(self, ran: CommandContext, deep: int) -> bool:
        """Whether `set -e` ends the shell with it: not inside a function whose call is tested or answered."""
        if "errexit" not in ran.options or ran.tested:
            return False
        function = next((one for one in reversed(ran.around) if one.kind == "function"), None)
        calls = self.calls_of(function) if function is not None and deep < _MOST_CALLS else []
        return all(self.ends_at_once(one, deep + 1) and not has_an_answer(one) for one in calls)

    def in_statement(self, ran: CommandContext, level: int, deep: int, *, piped: bool) -> StatusFlow | None:
        """Returns where a statement ends the way of the status, None where it becomes the statement's own."""
        block = ran.blocks[level - 1]
        statement = block.statements[block.index]
        at, place = position_in(ran, statement)
        pipeline = statement.pipelines[at]
        rest = pipeline.commands[place + 1 :]
        if rest and not piped and "pipefail" not in ran.options:
            return self.in_pipe(ran, level, rest, deep)
        if pipeline.negated:
            return StatusFlow(fate=Fate.HANDLED, how="`!` expects it")
        behind = statement.operators[at:]
        if "||" in behind:
            answer = at + behind.index("||") + 1
            return self.answered(ran, level, statement.pipelines[at + 1 : answer], statement.pipelines[answer], deep)
        if behind:
            return StatusFlow(fate=Fate.HANDLED, how="`&&` looks at it")
        return self.in_background(ran, deep) if statement.background else None

    def in_pipe(self, ran: CommandContext, level: int, rest: Sequence[Command], deep: int) -> StatusFlow:
        block = ran.blocks[level - 1]
        statements = (block.statements[block.index], *block.after[:2])
        if any("pipestatus" in token.text.lower() for one in statements for token in tokens_of(one)):
            return StatusFlow(fate=Fate.HANDLED, how="PIPESTATUS is read")
        if not copies(rest) and self.outwards(ran, level, deep + 1, piped=True).fate is Fate.HANDLED:
            return StatusFlow(fate=Fate.UNKNOWN, how="the last command of its pipe judges what it wrote")
        return _dropped("the pipe ends with the code of its last command", _place(ran))

    def answered(
        self, ran: CommandContext, level: int, skipped: Sequence[Pipeline], answer: Pipeline, deep: int
    ) -> StatusFlow | None:
        """What stands behind `||`: words alone are no answer, if nothing else tells the two ways apart."""
        word = passes_status_on(first_of(answer))
        if word:
            return self.leaving(ran, level, word, deep)
        if not is_quiet(answer):
            return StatusFlow(fate=Fate.HANDLED, how="`||` answers it")
        if leaves_a_trace(skipped, self.script):
            return StatusFlow(fate=Fate.UNKNOWN, how="what stands behind `&&` is left out")
        if leaves(answer) and not self.nothing_follows(ran, level):
            return StatusFlow(fate=Fate.UNKNOWN, how="what follows is left out")
        if self.words_are_read(ran, level):
            return StatusFlow(fate=Fate.UNKNOWN, how="what `||` says is read")
        return _dropped("`||` swallows it", _place(ran))

    def nothing_follows(self, ran: CommandContext, level: int) -> bool:
        """Whether leaving a function or a subshell early leaves nothing out but words; leaving the script ends it."""
        for block in reversed(ran.blocks[:level]):
            if not are_quiet(block.after):
                inner = [compound_of(ran, one) for one in ran.blocks[:level]]
                return not any(one is not None and one.kind in ("function", "subshell") for one in inner)
            around = compound_of(ran, block)
            if around is None or around.kind in ("function", "subshell"):
                return True
        return True

    def words_are_read(self, ran: CommandContext, level: int) -> bool:
        """Whether what is written around here goes into a pipe that judges it, or a file that the script reads."""
        for block in reversed(ran.blocks[:level]):
            around = compound_of(ran, block)
            if around is None:
                return False
            files = [one for one in files_written(around) if self.mentions(one, around)]
            if files or any(not copies(rest) for rest in pipes_behind(ran, around)):
                return True
        return False

    def mentions(self, file: str, around: Compound) -> bool:
        others = (one for one in self.script if not any(compound is around for compound in one.around))
        inside = (one for one in self.script if any(compound is around for compound in one.around))
        return any(file in text for one in others for text in written_in(one)) or any(
            file in token.text for one in inside for token in one.command.words
        )

    def leaving(self, ran: CommandContext, level: int, word: str, deep: int) -> StatusFlow | None:
        """A bare `exit` or `return` ends its shell or function with the status."""
        for number in range(level, 0, -1):
            block = ran.blocks[number - 1]
            statement = block.statements[block.index]
            at, _ = position_in(ran, statement)
            if number < level and len(statement.pipelines[at].commands) > 1:
                return self.outwards(ran, number, deep + 1)
            if statement.background:
                return self.in_background(ran, deep)
            around = compound_of(ran, block)
            if around is not None and around.kind == "subshell":
                return self.outwards(ran, number - 1, deep + 1)
            if around is not None and around.kind == "function":
                if word == "return":
                    return self.of_function(around, deep)
                calls = self.calls_of(around)
                if deep > _MOST_CALLS:
                    return StatusFlow(fate=Fate.UNKNOWN)
                return _agreed([self.leaving(one, len(one.blocks), word, deep + 1) for one in calls])
        if ran.outer is not None:
            return self.of_outer(ran, deep)
        return self.at_the_end(ran) if word == "exit" else StatusFlow(fate=Fate.UNKNOWN)

    def in_background(self, ran: CommandContext, deep: int) -> StatusFlow:
        waits = self.jobs.waits_for(ran)
        named = [(self.of(one, deep + 1), surely) for one, surely in waits if len(one.command.words) > 1]
        for found, surely in named:
            if found.fate is not Fate.DROPPED:
                return found if surely else StatusFlow(fate=Fate.UNKNOWN, how="a function may wait for it")
        for one, text in self.jobs.waits_in_traps(ran):
            if len(one.command.words) > 1 and _Flow(text).of(one, deep + 1).fate is Fate.HANDLED:
                return StatusFlow(fate=Fate.UNKNOWN, how="a trap may wait for it")
        bare = [ScriptPlace(one.line, one.file) for one, _ in waits if len(one.command.words) == 1]
        if bare:
            return _dropped("`wait` without a job gives 0", bare[0], _place(ran))
        return named[0][0] if named else _dropped("nothing waits for it", _place(ran))

    def before(self, ran: CommandContext, level: int, deep: int) -> StatusFlow:
        """The command that follows takes the place of the status, if it does not read it."""
        after = ran.blocks[level - 1].after
        if reads_status(after[:1]):
            return StatusFlow(fate=Fate.HANDLED, how="`$?` is read")
        following = after[0].pipelines[0]
        word = passes_status_on(first_of(following)) if not after[0].background else ""
        left = self.leaving(ran, level, word, deep) if word else None
        if left is not None:
            return left
        if passes_status_on(first_of(following, "subshell")):
            return StatusFlow(fate=Fate.UNKNOWN, how="a subshell behind it ends with it")
        if self.is_answered_by_trap():
            return StatusFlow(fate=Fate.HANDLED, how="the trap for ERR answers it")
        exits = [ScriptPlace(line, ran.file) for line in _exits_0(after)]
        ends = [*exits, *(ScriptPlace(one.line, one.file) for one in self.trapped() if _ends_well(one))]
        return _dropped("the script goes on without a look at it", *ends, _place(ran))

    def of_function(self, function: Compound, deep: int) -> StatusFlow:
        """A function ends with the status of its last command, wherever it is called."""
        if deep > _MOST_CALLS:
            return StatusFlow(fate=Fate.UNKNOWN)
        return _agreed([self.of(one, deep + 1) for one in self.calls_of(function)])

    def calls_of(self, function: Compound) -> list[CommandContext]:
        """Returns the calls of a function; [] where another function or command may call it too."""
        name = function.header[0].text if function.header else ""
        if name in self.through:
            return [self.through[name]]
        functions = {one for ran in self.script for one in functions_around(ran)}
        handed = any(name in " ".join(one.words[1:]).split() for one in self.script
                     if one.words[:1] and one.words[0] in functions | _PASSING_WORDS)  # fmt: skip
        return [] if handed else [one for one in self.script if one.words[:1] == (name,)]

    def at_the_end(self, ran: CommandContext) -> StatusFlow:
        """The script ends with it, unless a trap says otherwise."""
        if self.is_answered_by_trap():
            return StatusFlow(fate=Fate.HANDLED, how="the trap for ERR answers it")
        trapped = self.trapped()
        if any("$?" in text or "${?" in text for one in trapped for text in written_in(one)):
            return StatusFlow(fate=Fate.HANDLED, how="the trap at the end reads it")
        ends = [one for one in trapped if _ends_well(one)]
        if any(map(is_conditional, ends)):
            return StatusFlow(fate=Fate.UNKNOWN, how="the trap at the end decides what the script ends with")
        if ends:
            dropped = _dropped(
                "the trap at the end says 0", *(ScriptPlace(one.line, one.file) for one in ends), _place(ran)
            )
            return replace(dropped, at_end=True)
        return StatusFlow(fate=Fate.PASSED)

    def is_answered_by_trap(self) -> bool:
        """Whether a trap for ERR does more than to say so."""
        traps = (one for one in self.script if one.words[:1] == ("trap",) and "ERR" in one.words[2:])
        return any(not is_quiet_text(one.words[1]) for one in traps)

    def trapped(self) -> list[CommandContext]:
        """Returns the commands of traps for the script's end, and of the functions that these call."""
        found: list[CommandContext] = []
        for trap in self.script:
            if trap.words[:1] == ("trap",) and {"EXIT", "0", "ERR"} & set(trap.words[2:]):
                inside = in_trap(trap)
                names = {one.words[0] for one in inside if one.words}
                found += [*inside, *(one for one in self.script if names & functions_around(one))]
        return found


def _dropped(how: str, *at: ScriptPlace) -> StatusFlow:
    return StatusFlow(fate=Fate.DROPPED, at=tuple(at), how=how)


def _agreed(flows: Iterable[StatusFlow | None]) -> StatusFlow:
    """Returns what all of them say; unknown where they differ or there are none."""
    found = [one for one in flows if one is not None]
    return found[0] if len({one.fate for one in found}) == 1 else StatusFlow(fate=Fate.UNKNOWN)


def _runs_what_is_given(ran: CommandContext) -> bool:
    words = [token.text.strip('"') for token in ran.command.words]
    return bool(words) and words[0] not in _NO_RUN and any(word.startswith(_GIVEN) for word in words)


def _ends_well(ran: CommandContext) -> bool:
    return ran.words[:2] == ("exit", "0")


def _exits_0(after: Sequence[AndOr]) -> list[int]:
    return [
        one.first.line
        for statement in after
        for one in simple_commands(statement)
        if [word.text for word in one.words[:2]] == ["exit", "0"] and not statement.operators
    ]


def _place(ran: CommandContext) -> ScriptPlace:
    """Returns the line that names the script which is run, of a command that goes over several."""
    named = (token.line for token in ran.tokens if token.text.endswith((".py", ".sh")))
    return ScriptPlace(next(named, ran.line), ran.file)
