"""Whether two ranks, one of which may have left a loop, are in the same turn of it, or come from it. Pure.

Then it is no matter how often the loop went round: they parted within that turn. Where they are in different turns, no
loop within it parted them: both have come to its end in the turns before.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator, Sequence

from diagnostics.core.frame import Frame, Scalar
from diagnostics.dynamic.divergence.divergence import DivergencePoint, StatementKind
from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.functions import last_name
from diagnostics.static.program.source_file import SourceFile, SourceStore

_COUNTS = ("enumerate", "range")
Path = Sequence[Frame]
Loop = ast.For | ast.AsyncFor | ast.While


def without_whole_loops(
    sources: SourceStore, found: Sequence[DivergencePoint], here: Sequence[Path], there: Sequence[Path]
) -> tuple[DivergencePoint, ...]:
    """Returns the decisions without the loops that ranks of both sides are in the same turn of.

    `here` and `there` are the stacks of the waiting ranks, innermost first, with the values of their variables.
    """
    loops = [one for one in found if one.kind is StatementKind.LOOP]
    whole = [one for one in loops if _is_whole(sources, one, here, there) or _is_over(sources, one, loops, here, there)]
    scores = {one.score - 1 for one in whole}  # what follows from a decision stands one point below it
    return tuple(one for one in found if one not in whole and one.score not in scores)


def _is_whole(sources: SourceStore, point: DivergencePoint, here: Sequence[Path], there: Sequence[Path]) -> bool:
    loop = _loop_at(sources, point)
    if loop is None:
        return False
    told = [[tuple(_turns(sources, path, point.frame.file, loop)) for path in paths] for paths in (here, there)]
    return any(one and one == other and None not in dict(one).values() for one, other in itertools.product(*told))


def _is_over(
    sources: SourceStore,
    point: DivergencePoint,
    others: Sequence[DivergencePoint],
    here: Sequence[Path],
    there: Sequence[Path],
) -> bool:
    """Whether a loop around this one, itself a decision, is in another turn on the other side."""
    source, within = sources.file(point.frame.file), _loop_at(sources, point)
    for other in others if within is not None else ():
        loop = _loop_at(sources, other) if other.frame.file == point.frame.file else None
        if within is None or loop is None or loop not in _around(source, within.lineno):
            continue
        function = source.function_at(loop.lineno)
        told = [
            {
                _turn(source, frame, loop, any_item=True)
                for frame in itertools.chain.from_iterable(paths)
                if frame.file == point.frame.file and source.function_at(frame.line) is function
            }
            for paths in (here, there)
        ]
        if all(len(turns) == 1 and None not in turns for turns in told) and told[0] != told[1]:
            return True
    return False


def _loop_at(sources: SourceStore, point: DivergencePoint) -> ast.For | None:
    statements = sources.file(point.frame.file).all_statements
    return next((one for one in statements if isinstance(one, ast.For) and one.lineno == point.frame.line), None)


def _turns(sources: SourceStore, path: Path, file: str, loop: Loop) -> Iterator[tuple[tuple[str, int], Scalar]]:
    """Yields the loops that lead to this one, outermost first, it included, with the turn each is in."""
    for frame in reversed(path):
        source = sources.file(frame.file)
        holds = frame.file == file and source.function_at(frame.line) is source.function_at(loop.lineno)
        around = _around(source, loop.lineno if holds else frame.line)
        yield from (((frame.file, one.lineno), _turn(source, frame, one)) for one in around)
        if holds:
            yield (file, loop.lineno), _turn(source, frame, loop)
            return
    yield (file, loop.lineno), None


def _around(source: SourceFile, line: int) -> list[Loop]:
    """Returns the loops of the same function whose body holds a line, outermost first."""
    function = source.function_at(line)
    first = function.lineno if function is not None else 0
    loops = [one for one in source.all_statements if isinstance(one, (ast.For, ast.AsyncFor, ast.While))]
    holding = [one for one in loops if first <= one.lineno and _is_within(line, one)]
    return sorted(holding, key=lambda one: one.lineno)


def _is_within(line: int, loop: Loop) -> bool:
    return loop.body[0].lineno <= line <= (loop.body[-1].end_lineno or 0)


def _turn(source: SourceFile, frame: Frame, loop: Loop, *, any_item: bool = False) -> Scalar:
    """Returns what the loop's own counter holds; None where it has none, or something else writes it as well.

    `any_item`: whatever number it takes from what it goes over, which tells turns apart, if not all of them.
    """
    name = _counter(loop) or (_item(loop) if any_item else "")
    function = source.function_at(loop.lineno) or source.tree
    names = [one for one in walk(function) if isinstance(one, ast.Name) and one.id == name] if name and function else []
    stores = [one for one in names if isinstance(one.ctx, ast.Store)]
    return dict(frame.values).get(name) if len(stores) == 1 else None


def _counter(loop: Loop) -> str:
    """Returns the name that `enumerate` or `range` gives a number to; "" where no counter can be told."""
    if isinstance(loop, ast.While):
        return ""
    calls = [one for one in walk(loop.iter) if isinstance(one, ast.Call) and last_name(one.func) in _COUNTS]
    target = loop.target
    if isinstance(target, ast.Tuple) and calls and last_name(calls[0].func) == "enumerate":
        target = target.elts[0]
    return target.id if isinstance(target, ast.Name) and calls else ""


def _item(loop: Loop) -> str:
    target = None if isinstance(loop, ast.While) else loop.target
    return target.id if isinstance(target, ast.Name) else ""
