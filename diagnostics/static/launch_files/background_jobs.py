"""Background jobs of a shell script: which variable holds whose pid, who waits for a job, and who ends it. Pure."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import PurePosixPath

from diagnostics.static.launch_files.shell_commands import CommandContext, commands
from diagnostics.static.launch_files.shell_lexer import ShellError
from diagnostics.static.launch_files.shell_parser import AndOr, parse

_KILLS = frozenset(["kill", "pkill", "killall"])
_WITHOUT_EFFECT = frozenset(["-0", "-l", "-L"])
_LOOPS = ("for", "while", "until", "select")
_LAST_JOB = re.compile(r"\$\{?!(?![\w@])")
_VARIABLE = re.compile(r"\"?\$\{?([A-Za-z_]\w*)(?:\[[^\]]*\])?\}?\"?")
_ASSIGNED = re.compile(r"([A-Za-z_]\w*)(?:\[[^\]]*\])?\+?=")
_OF_JOBS = re.compile(r"\$\{?!|^\"?%|\$\(\s*jobs")


class Jobs:
    """The background jobs of one script."""

    def __init__(self, script: Sequence[CommandContext]) -> None:
        self._script = script
        self._index = {id(one): index for index, one in enumerate(script)}

    def waits_for(self, ran: CommandContext) -> list[tuple[CommandContext, bool]]:
        """Returns the `wait` commands that may be for the job of `ran`, and whether each surely comes later."""
        own = self._statements_of(ran)
        waits = [one for one in self._script if one.words[:1] == ("wait",) and not self._is_for_another(one, own)]
        return [(one, self._comes_later(one, ran)) for one in waits if self._may_come_later(one, ran)]

    def waits_in_traps(self, ran: CommandContext) -> list[tuple[CommandContext, tuple[CommandContext, ...]]]:
        """Returns the `wait` commands in texts of traps that may be for it, each with the commands of its text."""
        own = self._statements_of(ran)
        texts = [in_trap(one) for one in self._script if one.words[:1] == ("trap",)]
        waits = [(one, text) for text in texts for one in text if one.words[:1] == ("wait",)]
        return [(one, text) for one, text in waits if not self._is_for_another(one, own)]

    def is_job(self, ran: CommandContext) -> bool:
        """Whether a command runs in the background."""
        return bool(self._statements_of(ran))

    def is_called(self, ran: CommandContext) -> bool:
        """Whether a command stands in the script itself, or in a function that the script calls: not only in a trap."""
        names = {around.header[0].text for around in ran.around if around.kind == "function" and around.header}
        return not is_in_function(ran) or any(one.words[:1] and one.words[0] in names for one in self._script)

    def may_end(self, ran: CommandContext) -> bool:
        """Whether the script may itself send a signal to the process that it started with `ran`."""
        own = self._statements_of(ran)
        trapped = [inner for one in self._script if one.words[:1] == ("trap",) for inner in in_trap(one)]
        if not own:
            beside = (one for one in self._script if is_in_function(one) or self.is_job(one))
            return any(_kills(one, ran) and not self._is_for_jobs(one) for one in beside)
        later = [one for one in self._script if self._may_come_later(one, ran)]
        return any(_kills(one, ran) and not self._is_for_another(one, own) for one in (*later, *trapped))

    def _statements_of(self, ran: CommandContext, deep: int = 0) -> set[int]:
        """Returns the statements with `&` that `ran` is in, or that call a function it is in."""
        found = {id(one) for one in _statements(ran) if one.background}
        names = {around.header[0].text for around in ran.around if around.kind == "function" and around.header}
        for call in self._script if names and deep < 3 else ():
            if call.words[:1] and call.words[0] in names:
                found |= self._statements_of(call, deep + 1)
        return found

    def _is_for_another(self, ran: CommandContext, own: set[int]) -> bool:
        """Whether every target of a `wait` or `kill` is known to be another job."""
        targets = _targets(ran)
        return bool(targets) and all(owners and not owners & own for owners in map(self._owners, targets))

    def _is_for_jobs(self, ran: CommandContext) -> bool:
        """Whether every target is some background job."""
        targets = _targets(ran)
        return bool(targets) and all(_OF_JOBS.search(one) or self._owners(one) for one in targets)

    def _owners(self, target: str) -> set[int]:
        named = _VARIABLE.fullmatch(target)
        return self._pids.get(named[1], set()) if named is not None else set()

    @cached_property
    def _pids(self) -> dict[str, set[int]]:
        """Variable -> the statements whose pid it was given."""
        found: dict[str, set[int]] = defaultdict(set)
        last: set[int] = set()
        for one in self._script:
            started = {id(statement) for statement in _statements(one) if statement.background}
            for token in (*one.command.assignments, *one.command.words):
                named = _ASSIGNED.match(token.text)
                if named is not None and _LAST_JOB.search(token.text):
                    found[named[1]] |= last
                elif named is not None and _VARIABLE.fullmatch(token.text[named.end() :]):
                    other = _VARIABLE.fullmatch(token.text[named.end() :])
                    found[named[1]] |= found.get(other[1], set()) if other is not None else set()
            last = started or last
        return found

    def _comes_later(self, one: CommandContext, ran: CommandContext) -> bool:
        return self._index.get(id(one), 0) > self._index.get(id(ran), 0)

    def _may_come_later(self, one: CommandContext, ran: CommandContext) -> bool:
        """Whether a command may run after `ran` was started: functions run when they are called."""
        loops = {id(around) for around in ran.around if around.kind in _LOOPS}
        again = any(id(around) in loops for around in one.around)
        return self._comes_later(one, ran) or again or is_in_function(one)


def in_trap(ran: CommandContext) -> tuple[CommandContext, ...]:
    """Returns the commands of the text that `trap` is given; () where it cannot be read."""
    try:
        return commands(parse(ran.words[1], ran.line)) if len(ran.words) > 1 else ()
    except ShellError:
        return ()


def is_in_function(ran: CommandContext) -> bool:
    """Whether a command runs only where its function is called."""
    return any(around.kind == "function" for around in ran.around)


def _statements(ran: CommandContext) -> Iterator[AndOr]:
    one: CommandContext | None = ran
    while one is not None:
        yield from (block.statements[block.index] for block in one.blocks)
        one = one.outer


def _kills(ran: CommandContext, child: CommandContext) -> bool:
    """Whether a command sends signals, possibly to `child`."""
    if ran.words[:1] and ran.words[0] in ("echo", "printf", "trap", "type", "which"):
        return False
    at = next((index for index, word in enumerate(ran.words) if PurePosixPath(word).name in _KILLS), None)
    if at is None or _WITHOUT_EFFECT & set(ran.words):
        return False
    patterns = [word for word in ran.words[at + 1 :] if not word.startswith("-")]
    if PurePosixPath(ran.words[at]).name == "kill" or any("$" in word for word in (*patterns, *child.words)):
        return True
    own = " ".join(child.words)
    return not patterns or any(word in own or word.startswith("python") for word in patterns)


def _targets(ran: CommandContext) -> list[str]:
    """Returns the words behind `kill` or `wait` as they are written, without options; [] of pkill and of no target."""
    words: Iterable[str] = [token.text for token in ran.command.words]
    if not ran.words or ran.words[0] not in ("kill", "wait"):
        return []
    found = list(words)[1:]
    named = [index for index, word in enumerate(found) if word in ("-s", "-n", "-p")]
    return [word for index, word in enumerate(found) if not word.startswith("-") and index - 1 not in named]
