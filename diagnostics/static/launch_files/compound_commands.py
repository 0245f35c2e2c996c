"""Where a command of a shell script stands in its statements and in the compound commands around it. Pure."""

from __future__ import annotations

from diagnostics.static.launch_files.shell_commands import Block, CommandContext
from diagnostics.static.launch_files.shell_parser import AndOr, Command, Compound


def functions_around(ran: CommandContext) -> set[str]:
    """Returns the names of the functions that a command stands in."""
    return {one.header[0].text for one in ran.around if one.kind == "function" and one.header}


def position_in(ran: CommandContext, statement: AndOr) -> tuple[int, int]:
    """Returns which pipeline of the statement holds the command, and at which place."""
    held = {id(ran.command), *map(id, ran.around)}
    for at, pipeline in enumerate(statement.pipelines):
        for place, command in enumerate(pipeline.commands):
            if id(command) in held:
                return at, place
    return 0, 0


def has_an_answer(ran: CommandContext) -> bool:
    """Whether something stands behind `||`, or `!` before it: then `set -e` does not hold in what it runs."""
    for block in ran.blocks:
        statement = block.statements[block.index]
        at, _ = position_in(ran, statement)
        if statement.pipelines[at].negated or "||" in statement.operators[at:]:
            return True
    return False


def pipes_behind(ran: CommandContext, around: Compound) -> list[tuple[Command, ...]]:
    """Returns what stands behind a compound command in its pipe."""
    found = []
    for block in ran.blocks:
        for pipeline in block.statements[block.index].pipelines:
            places = [place for place, one in enumerate(pipeline.commands) if one is around]
            found += [pipeline.commands[place + 1 :] for place in places if pipeline.commands[place + 1 :]]
    return found


def compound_of(ran: CommandContext, block: Block) -> Compound | None:
    """Returns the compound command whose part these statements are."""
    return next((one for one in reversed(ran.around) if any(part is block.statements for part in one.parts)), None)


def is_test(around: Compound, block: Block) -> bool:
    """Whether the statements of `block` are the condition of `around`."""
    index = next(number for number, part in enumerate(around.parts) if part is block.statements)
    if around.kind in ("while", "until"):
        return index == 0
    return around.kind == "if" and index % 2 == 0 and index < len(around.parts) - 1
