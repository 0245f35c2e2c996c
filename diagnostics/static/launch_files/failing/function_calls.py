"""The calls of a script's own functions, and where `set -e` holds in them. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from diagnostics.static.launch_files.compound_commands import compound_of, has_an_answer, is_test, position_in
from diagnostics.static.launch_files.shell_commands import CommandContext
from diagnostics.static.launch_files.shell_parser import Compound

_DEEPEST = 3  # functions that call each other


def as_called(ran: CommandContext, script: Sequence[CommandContext], deep: int = 0) -> Iterator[CommandContext]:
    """Yields a command, and the calls of the functions of which it is the end: they end with its status."""
    yield ran
    function = _ended_by(ran)
    if function is not None and deep < _DEEPEST:
        for call in calls_of(function, script):
            yield from as_called(call, script, deep + 1)


def calls_of(function: Compound, script: Sequence[CommandContext]) -> list[CommandContext]:
    """Returns the calls of a function by its name, but for those that it makes itself."""
    name = function.header[0].text if function.header else ""
    return [one for one in script if name and one.words[:1] == (name,) and function not in one.around]


def ends_shell_at_once(ran: CommandContext, script: Sequence[CommandContext], deep: int = 0) -> bool:
    """Whether `set -e` ends the shell where a command fails: nothing asks, here and where its functions are called.

    No, too, where a function is called by nothing that is seen: a command that is handed its name may ask.
    """
    if "errexit" not in ran.options or ran.tested or ran.substituted or has_an_answer(ran) or deep > _DEEPEST:
        return False
    function = next((one for one in reversed(ran.around) if one.kind == "function"), None)
    if function is None:
        return True
    calls = calls_of(function, script)
    name = function.header[0].text if function.header else ""
    handed = any(name in one.words[1:] and one.words[0] not in ("echo", "printf") for one in script)
    return bool(calls) and not handed and all(ends_shell_at_once(one, script, deep + 1) for one in calls)


def _ended_by(ran: CommandContext) -> Compound | None:
    """Returns the function that ends with the status of a command, None where something follows it there."""
    for block in reversed(ran.blocks):
        statement = block.statements[block.index]
        at, place = position_in(ran, statement)
        piped = place < len(statement.pipelines[at].commands) - 1 and "pipefail" not in ran.options
        last = not piped and at == len(statement.pipelines) - 1
        if block.after or statement.background or statement.pipelines[at].negated or not last:
            return None
        around = compound_of(ran, block)
        if around is None or around.kind == "function":
            return around
        if around.kind not in ("group", "subshell", "if", "case") or is_test(around, block):
            return None
    return None
