"""What a run that is taken up again leaves out of its first epoch, and leaves out of every later one as well. Pure."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from diagnostics.static.executed.training import loader_of
from diagnostics.static.execution.events import Event, Execution, OpenLoop
from diagnostics.static.execution.values import Const, Made, OneOf, Value, is_carried, options, sources
from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.functions import last_name, paired
from diagnostics.static.program.project import Project

_SKIPS = ("skip_first_batches", "islice")
_SAME = frozenset(["enumerate", "tqdm.tqdm", "tqdm.auto.tqdm", "iter", "zip"])
_MOST = 6


def loaders_cut_for_good(execution: Execution, project: Project) -> Iterator[tuple[Event, Event, OpenLoop]]:
    """Yields (skip, reading, loop over epochs): each epoch goes over the loader without its first batches.

    It was made before that loop, or in one of its rounds under a test and kept; where the name that holds it is set to
    anything else in the loop, or tests of the loop's own choose between loaders, it says nothing.
    """
    for skip in execution.events:
        if skip.name.rpartition(".")[2] not in _SKIPS or not isinstance(skip.value, Made) or not _skips(skip):
            continue
        for one in execution.named("iterate"):
            if not _is_over(one.owner, skip.value) or not _begins_alike(skip, one):
                continue
            loop = one.loops[min(len(skip.loops), len(one.loops) - 1)]
            if _is_kept(skip, loop, project) and not _is_chosen(one, loop, skip):
                yield skip, one, loop
                break


def loaders_cut_again(execution: Execution) -> Iterator[tuple[Event, Event, OpenLoop]]:
    """Yields (skip, reading, loop over epochs): each round shortens the loader anew, by a number of a checkpoint.

    Where nothing in the loop sets that number, and no test and no choice asks which epoch it is.
    """
    for skip in execution.events:
        if skip.name.rpartition(".")[2] not in _SKIPS or not isinstance(skip.value, Made) or not skip.loops:
            continue
        count, loop = skip.argument(1, "num_batches"), skip.loops[-1]
        if count is None or not _skips(skip) or not _is_from_checkpoint(count) or _is_of_round(count, skip.loops):
            continue
        if any(_asks_round(each.test, loop) for each in skip.guards) or _is_made_in(skip.argument(0, "dataloader"),
                                                                                  loop, execution):  # fmt: skip
            continue
        if _is_set_in_round(skip, loop, execution):
            continue
        read = next((one for one in execution.named("iterate") if one.loops[-1:] == skip.loops[-1:]
                     and _is_over(one.owner, skip.value)), None)  # fmt: skip
        if read is not None and not _is_chosen_by_round(read.owner, loop) and _is_gone_round(loop):
            yield skip, read, loop


def batches_left_out_again(execution: Execution) -> Iterator[tuple[Event, OpenLoop, ast.expr]]:
    """Yields (continue, loop over epochs, bound) of `if step < resume_step: continue` in the batches of each epoch.

    Only where the bound comes out of a checkpoint, nothing in the loop sets it, and no test asks which epoch it is.
    """
    for one in execution.named("continue"):
        guard = one.guards[-1] if one.guards else None
        if len(one.loops) < 2 or guard is None or not guard.taken:
            continue
        loop = one.loops[-2]
        if any(_asks_round(each.test, loop) for each in one.guards):
            continue
        parts = list(_parts(guard.test, guard.node))
        for test, node in parts:
            if any(_asks_item(other, one.loops[-1]) for other, _ in parts if other is not test):
                continue  # it leaves out some of them for what they are
            bound, written = _bound(test, node, one.loops[-1])
            if bound is None or written is None or not _is_from_checkpoint(bound):
                continue
            if not _is_set(_names(written), loop.node) and not _is_of_round(bound, one.loops):
                yield one, loop, written
                break


def _skips(skip: Event) -> bool:
    """Whether a call leaves out the first batches of a loader, by a number that is not written there."""
    count = skip.argument(1, "num_batches")
    if skip.name.endswith("islice"):
        return len(skip.args) > 2 and not isinstance(count, Const) and loader_of(skip.args[0]) is not None
    return not isinstance(count, Const)


def _is_set_in_round(skip: Event, loop: OpenLoop, execution: Execution) -> bool:
    """Whether a round sets the number of what is left out: by its name, or as the attribute that it is read from."""
    given = (
        [*skip.node.args[1:2], *(one.value for one in skip.node.keywords)] if isinstance(skip.node, ast.Call) else []
    )
    names = {name for one in given for name in _names(one)}
    for one in skip.function.nodes_of(ast.Assign):
        for held, value in paired(one.targets[0], one.value) if isinstance(one, ast.Assign) else ():
            if names & _names(held) and isinstance(value, (ast.Name, ast.Attribute)):
                names.add(last_name(value))  # `skip = self.skip`
    entered = {id(frames[-1].function): frames[-1].function for frames in execution.entered}.values()
    return _is_set(names, loop.node) or any(
        isinstance(held, ast.Attribute) and held.attr in names and isinstance(value, ast.Constant) and not value.value
        for function in entered
        if not function.name.endswith("__init__")
        for one in function.nodes_of(ast.Assign)
        if isinstance(one, ast.Assign)
        for target in one.targets
        for held, value in paired(target, one.value)
    )


def _is_made_in(loader: Value | None, loop: OpenLoop, execution: Execution) -> bool:
    """Whether a loop makes the loader that it reads: then it may go over data sets, and not over epochs."""
    made = loader_of(loader)
    return any(one.value is made and loop in one.loops for one in execution.events if made is not None)


def _is_chosen_by_round(over: Value | None, loop: OpenLoop) -> bool:
    """Whether a test of which round it is decides over what is read."""
    return isinstance(over, OneOf) and any(_asks_round(test, loop) for test in over.tests)


def _is_gone_round(loop: OpenLoop) -> bool:
    """Whether a loop does not end with its first round."""
    last = loop.node.body[-1] if isinstance(loop.node, (ast.For, ast.While)) else None
    return last is not None and not isinstance(last, (ast.Break, ast.Return, ast.Raise))


def _is_over(value: Value | None, skipped: Made) -> bool:
    for _ in range(_MOST):
        if any(one is skipped for one in options(value)):
            return True
        if not isinstance(value, Made) or value.name not in _SAME or not value.args:
            return False
        value = next((one for one in value.args if _is_over(one, skipped)), value.args[0])
    return False


def _begins_alike(skip: Event, one: Event) -> bool:
    """Whether what is skipped is read in the loop that it was skipped in, or in one that began behind it."""
    if not one.loops or len(skip.loops) > len(one.loops):
        return False
    return all(mine is theirs for mine, theirs in zip(skip.loops, one.loops, strict=False))


def _is_kept(skip: Event, loop: OpenLoop, project: Project) -> bool:
    """Whether the shortened loader stays under its name from one round of a loop to the next."""
    inside = len(skip.loops) > 0 and skip.loops[-1] is loop
    if inside and (skip.function is not loop.function or not _is_under_test(skip.node, loop.node, skip, project)):
        return False
    held: set[str] = set()
    own: list[ast.AST] = []
    calls = [(skip.node, skip.function), *((one.call, one.caller) for one in skip.frames)]
    for node, function in calls:
        parents = project.file_with(function).parents
        outer = parents.get(node)
        while isinstance(outer, (ast.IfExp, ast.Tuple, ast.Call)) and not inside:
            outer = parents.get(outer)
        if isinstance(outer, ast.Assign):
            own.append(outer)
            held |= {name for target in outer.targets for name in _names(target)}
    return bool(held) and not _is_set(held, loop.node, own)


def _is_under_test(node: ast.AST, loop: ast.AST, skip: Event, project: Project) -> bool:
    parents = project.file_with(skip.function).parents
    outer = parents.get(node)
    while outer is not None and outer is not loop:
        if isinstance(outer, ast.If):
            return True
        outer = parents.get(outer)
    return False


def _is_chosen(one: Event, loop: OpenLoop, skip: Event) -> bool:
    """Whether a test within a loop, or of which round it is, decides if or over what is read.

    The test that a loader is shortened under in the loop decides that for the later rounds, too.
    """
    inside = {id(node) for node in walk(loop.node)}
    if any(id(guard.node) in inside or _asks_round(guard.test, loop) for guard in one.guards):
        return True
    over = one.owner
    while isinstance(over, Made) and over.name in _SAME and over.args:
        over = over.args[0]
    tests = over.tests if isinstance(over, OneOf) and loop not in skip.loops else ()
    return any(_asks_round(test, loop) for test in tests)


def _is_of_round(bound: Value, loops: Sequence[OpenLoop]) -> bool:
    """Whether a test of which round it is chooses the number: `start if epoch == first_epoch else 0`.

    Of any loop around: the batches may come through a generator that goes over them itself.
    """
    return isinstance(bound, OneOf) and any(_asks_round(test, loop) for test in bound.tests for loop in loops)


def _asks_round(test: Value, loop: OpenLoop) -> bool:
    """Whether a test is about what a loop over epochs takes, or about what an earlier round of it left."""
    return any(
        (isinstance(one, Made) and one.name in ("item", "count", "counter") and _is_of(one, loop)) or is_carried(one)
        for one in sources(test)
    )


def _asks_item(test: Value, loop: OpenLoop) -> bool:
    """Whether a test is about what a loop takes, beside how many it has taken."""
    taken = [one.owner for one in sources(test) if isinstance(one, Made) and one.name == "item"]
    return any(over is owner for over in sources(loop.over) for owner in taken)


def _is_of(item: Made, loop: OpenLoop) -> bool:
    return item.name == "counter" or item.owner is loop.over


def _parts(test: Value, node: ast.AST) -> Iterator[tuple[Value, ast.AST]]:
    """Yields the tests that `and` joins, each with where it is written."""
    if isinstance(node, ast.If):
        node = node.test
    if isinstance(test, Made) and test.name == "and" and isinstance(node, ast.BoolOp):
        yield from zip(test.args, node.values, strict=False)
    else:
        yield test, node


def _bound(test: Value, node: ast.AST, batches: OpenLoop) -> tuple[Value | None, ast.expr | None]:
    """Returns what a count of the batches is to be below of, and where that is written."""
    if not isinstance(test, Made) or not isinstance(node, ast.Compare) or len(test.args) != 2:
        return None, None
    sides = [(test.args[0], node.left), (test.args[1], node.comparators[0])]
    if test.name in (">", ">="):
        sides.reverse()
    elif test.name not in ("<", "<="):
        return None, None
    counted = any(isinstance(one, Made) and one.name == "count" and one.owner is not None
                  and _is_over_same(batches.over, one.owner) for one in sources(sides[0][0]))  # fmt: skip
    return sides[1] if counted else (None, None)


def _is_over_same(over: Value | None, counted: Value) -> bool:
    return over is counted or (isinstance(over, Made) and any(one is counted for one in over.args))


def _is_from_checkpoint(bound: Value) -> bool:
    """Whether a number is what was left of an epoch when a checkpoint was saved."""
    found = [one for one in sources(bound) if isinstance(one, Made)]
    if any(is_carried(one) for one in found):
        return False
    read = any(one.name.rpartition(".")[2] in ("load", "loads", "load_state", "load_checkpoint") for one in found)
    rest = any(one.name in ("%", "divmod") and any(isinstance(each, Made) and each.name == "len"
                                                   for each in sources(one)) for one in found)  # fmt: skip
    return read or rest


def _names(target: ast.AST) -> set[str]:
    """Returns the last parts of the names in an expression."""
    return {last_name(one) for one in walk(target) if isinstance(one, (ast.Name, ast.Attribute))} - {"self"}


def _is_set(names: set[str], loop: ast.AST, own: list[ast.AST] | None = None) -> bool:
    """Whether something in a loop sets one of some names, but for the statements that are looked at."""
    left_out = {id(node) for one in own or () for node in walk(one)}
    return any(
        isinstance(one, (ast.Name, ast.Attribute))
        and isinstance(one.ctx, (ast.Store, ast.Del))
        and last_name(one) in names
        and id(one) not in left_out
        for one in walk(loop)
    )
