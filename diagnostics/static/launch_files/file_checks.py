"""Whether a shell script looks at what a command was to leave, a file or words in a log, and decides by that. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath

from diagnostics.static.launch_files.compound_commands import compound_of, is_test, position_in
from diagnostics.static.launch_files.quiet_commands import is_quiet, leaves
from diagnostics.static.launch_files.shell_commands import Block, CommandContext
from diagnostics.static.launch_files.shell_parser import AndOr, Compound, Pipeline

_LOOPS = ("for", "while", "until", "select")
_TESTS = frozenset(["[", "[[", "test"])
_OF_FILES = frozenset(["-e", "-f", "-s", "-d", "-r", "-a", "-h", "-L", "-nt", "-ot"])
_READING = frozenset(["grep", "egrep", "fgrep", "zgrep", "rg", "cmp", "diff", "ls", "stat", "find", "awk", "jq"])
_SUBSTITUTED = re.compile(r"\$\((?!\(|\s*date\b)|`")
_ASSIGNED = re.compile(r"([A-Za-z_]\w*)(?:\[[^\]]*\])?\+?=")


def checks_files_after(ran: CommandContext, script: Sequence[CommandContext]) -> CommandContext | None:
    """Returns the first command that may run after `ran` and on whose look at files something depends."""
    later = [one for one in script if one is not ran and _may_come_later(one, ran, script)]
    derived = _derived(later)
    return next((one for one in later if _looks_at_files(one, derived) and _something_depends_on(one)), None)


def _may_come_later(one: CommandContext, ran: CommandContext, script: Sequence[CommandContext]) -> bool:
    loops = {id(around) for around in ran.around if around.kind in _LOOPS}
    kinds = {around.kind for around in one.around}
    behind = next(candidate is ran for candidate in script if candidate is ran or candidate is one)
    return behind or "function" in kinds or any(id(around) in loops for around in one.around)


def _derived(script: Sequence[CommandContext]) -> frozenset[str]:
    """Returns the variables that get what a command wrote: `n=$(ls out | wc -l)`."""
    tokens = [token.text for one in script for token in (*one.command.assignments, *one.command.words)]
    named = [(found, text) for text in tokens if (found := _ASSIGNED.match(text)) is not None]
    return frozenset(found[1] for found, text in named if _SUBSTITUTED.search(text[found.end() :]))


def _looks_at_files(one: CommandContext, derived: frozenset[str]) -> bool:
    if not one.words:
        return False
    name = PurePosixPath(one.words[0]).name
    if name not in _TESTS:
        return name in _READING or (name.startswith("((") and _names(one, derived))
    written = " ".join(token.text for token in one.command.words)
    return bool(_OF_FILES & set(one.words) or _SUBSTITUTED.search(written)) or _names(one, derived)


def _names(one: CommandContext, derived: frozenset[str]) -> bool:
    used = {name for token in one.command.words for name in re.findall(r"[A-Za-z_]\w*", token.text)}
    return bool(used & derived)


def _something_depends_on(one: CommandContext) -> bool:
    """Whether more than words hangs on the status of a command."""
    for block in reversed(one.blocks):
        statement = block.statements[block.index]
        at, _ = position_in(one, statement)
        if any(_is_more(pipeline) for pipeline in statement.pipelines[at + 1 :]):
            return True
        if "||" in statement.operators[at:]:
            return False
        around = compound_of(one, block)
        found = _branches(around, block)
        if found is not None:
            return found
        if block.after:
            return one.words[0] in _TESTS and "errexit" in one.options and not one.tested
        if around is None or around.kind == "function":
            return one.words[0] in _TESTS  # it is the status of the script or of the function
    return False


def _branches(around: Compound | None, block: Block) -> bool | None:
    """Returns whether more than words follows from a condition, None of what is no condition."""
    if around is None or around.kind not in ("if", "while", "until"):
        return None
    if not is_test(around, block):
        return None
    bodies = [pipeline for part in _bodies(around) for statement in part for pipeline in statement.pipelines]
    return any(map(_is_more, bodies))


def _is_more(pipeline: Pipeline) -> bool:
    """Whether it does more than to say something: to leave early skips what follows."""
    return not is_quiet(pipeline) or leaves(pipeline)


def _bodies(around: Compound) -> Iterator[Sequence[AndOr]]:
    """Yields what a condition decides on."""
    for index, part in enumerate(around.parts):
        if index % 2 == 1 or index == len(around.parts) - 1:
            yield part
