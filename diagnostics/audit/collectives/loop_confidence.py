"""How sure it is that a loop is longer on one rank than on another."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from diagnostics.core.findings import Confidence
from diagnostics.static.dataflow.rank_predicates import RankPredicates
from diagnostics.static.dataflow.taint_sources import RANK, source_of
from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.functions import Function, last_name
from diagnostics.static.program.project import Project
from diagnostics.static.spmd.divergent_branch import DivergentBranch

MOST_STEPS = 60
# What gives back as many items as its first argument has.
_AS_LONG = frozenset(
    ["tqdm", "trange", "track", "enumerate", "iter", "list", "tuple", "sorted", "reversed", "progress_bar"]
)
_LISTS_FILES = {"glob", "iglob", "rglob", "listdir", "iterdir", "scandir"}
_OPENS = {
    "open",
    "load",
    "loadtxt",
    "read_csv",
    "read_parquet",
    "read_text",
    "readlines",
    "File",
    "read_table",
    "memmap",
}


def length_confidence(parting: DivergentBranch, project: Project) -> Confidence:
    """Returns LIKELY where the loop's source is chosen by the rank: a file of its own, a size of its own."""
    loop = parting.decision
    if not isinstance(loop, (ast.For, ast.AsyncFor)):
        return Confidence.POSSIBLE
    bounds = _bounds(loop.iter)
    origins = [one for bound in bounds for one in _origins(bound, parting.function, project)]
    chosen = any(_differs(value, function, project) for value, function in origins)
    chosen = chosen or _yields_by_content(origins, project)
    chosen = chosen or any(_set_on_one_rank(value, function, project) for value, function in origins)
    chosen = chosen or _shares_out_files(origins) or _filters_share(origins, project)
    chosen = chosen or any(_reads_own_files(value, function, project) for value, function in origins)
    return Confidence.LIKELY if chosen else Confidence.POSSIBLE


def _bounds(value: ast.expr) -> list[ast.expr]:
    """Returns what says how often a loop goes round: of islice its end, else the whole."""
    if isinstance(value, ast.Call) and last_name(value.func) == "islice" and len(value.args) > 1:
        return value.args[1:]
    if isinstance(value, ast.Call) and last_name(value.func) in ("enumerate", "tqdm") and value.args:
        return _bounds(value.args[0])
    return [value]


def _differs(value: ast.expr, function: Function, project: Project) -> bool:
    """Whether a value names a file of the rank's own, or has another size on another rank."""
    tests = RankPredicates(project)
    for node in walk(value):
        match node:
            case ast.Call(args=[first, *_]) if last_name(node.func) in _OPENS and _by_rank(first, function, tests):
                return True
            # The last rank's share is cut off at the end: range(rank * n, min(total, (rank + 1) * n)).
            case ast.Call(args=[_, _, *_]) if last_name(node.func) == "min":
                by_rank = any(_by_rank(argument, function, tests) for argument in node.args)
                if by_rank and not _is_rounded_down(node, function):
                    return True
            case ast.IfExp() if tests.asks(node.test, function) is not None and not _as_long(node.body, node.orelse):
                return True
            case ast.Subscript(value=ast.List() | ast.Tuple() | ast.Dict(), slice=ast.expr() as index):
                if _by_rank(index, function, tests):
                    return True
    return False


def _is_rounded_down(bound: ast.Call, function: Function) -> bool:
    """Whether the share is `total // world`: no rank's is cut off, the rest belongs to nobody."""
    names = [node.id for node in walk(bound) if isinstance(node, ast.Name)]
    made = [value for name in names for value in function.assigned.get(name, ())]
    return any(
        isinstance(one, ast.BinOp) and isinstance(one.op, ast.FloorDiv) and isinstance(one.left, (ast.Call, ast.Name))
        for one in made
    )


def _as_long(one: ast.expr, other: ast.expr) -> bool:
    """Whether two ways to loop are equally long: a progress bar around the same loader; what is None is no loop."""
    bare = [_unwrapped(value) for value in (one, other)]
    if any(isinstance(value, ast.Constant) and value.value is None for value in bare):
        return True
    return ast.unparse(bare[0]) == ast.unparse(bare[1])


def _unwrapped(value: ast.expr) -> ast.expr:
    while isinstance(value, ast.Call) and last_name(value.func) in _AS_LONG and value.args:
        value = value.args[0]
    return value


def _reads_own_files(value: ast.expr, function: Function, project: Project) -> bool:
    """Whether the files of the rank's share, `paths[rank::world]`, are read in turn: each has its own length."""
    for kind in project.kinds(value, function, 2):
        reader = project.method(kind, "__iter__")
        if reader is None:
            continue
        for loop in (node for node in reader.nodes_of(ast.For) if isinstance(node, ast.For)):
            if _opens_each(loop) and any(_is_share(one) for one, _ in _origins(loop.iter, reader, project)):
                return True
    return False


def _shares_out_files(origins: list[tuple[ast.expr, Function]]) -> bool:
    """Whether the files of a folder are dealt out, `sorted(glob(...))[rank::world]`: they need not come out even.

    A loop that is as long as a list of the program's own may be made to; what lies in a folder is not.
    """
    listed = any(isinstance(node, ast.Call) and last_name(node.func) in _LISTS_FILES for value, _ in origins
                 for node in walk(value))  # fmt: skip
    return listed and any(_is_share(value) for value, _ in origins)


def _yields_by_content(origins: list[tuple[ast.expr, Function]], project: Project) -> bool:
    """Whether what gives the batches goes through the rank's share and ends a batch where the items say so."""
    samplers = [
        (one.value, where) for value, where in origins if isinstance(value, ast.Call) for one in value.keywords
        if one.arg == "batch_sampler"
    ]  # fmt: skip
    for value, where in samplers:
        for kind in list(project.kinds(value, where))[:1]:
            reader = project.method(kind, "__iter__")
            loops = [one for one in reader.nodes_of(ast.For) if isinstance(one, ast.For)] if reader is not None else []
            for loop in loops:
                tested = [one for part in loop.body for one in walk(part) if isinstance(one, ast.If)]
                yields = any(isinstance(one, ast.Yield) for test in tested for one in walk(test))
                if (
                    yields
                    and reader is not None
                    and any(_deals(one) for one, _ in _origins(loop.iter, reader, project))
                ):
                    return True
    return False


def _deals(value: ast.expr) -> bool:
    """Whether a value is every n-th item from the rank on: a slice, or `range(rank, count, world)`."""
    ranges = (one for one in walk(value) if isinstance(one, ast.Call) and last_name(one.func) == "range")
    return _is_share(value) or any(
        len(one.args) == 3 and any(source_of(part) == RANK for part in walk(one.args[0])) for one in ranges
    )


def _set_on_one_rank(value: ast.expr, function: Function, project: Project) -> bool:
    """Whether a number is set under a test of the rank: `if rank == 0: start = checkpoint["epoch"] + 1`."""
    file = project.file_with(function)
    statement = file.parents.get(value)
    if not isinstance(statement, ast.Assign) or not isinstance(value, (ast.BinOp, ast.Subscript)):
        return False
    tests = RankPredicates(project)
    arms = [one for one in function.nodes_of(ast.If) if isinstance(one, ast.If) and statement in one.body]
    return any(tests.asks(one.test, function) is not None and not one.orelse for one in arms)


def _filters_share(origins: list[tuple[ast.expr, Function]], project: Project) -> bool:
    """Whether only some items of the rank's share are kept: `[row for row in rows[rank::world] if row.valid]`."""
    for value, function in origins:
        for one in walk(value):
            if not isinstance(one, (ast.ListComp, ast.GeneratorExp, ast.SetComp)):
                continue
            for part in one.generators:
                names = {node.id for node in walk(part.target) if isinstance(node, ast.Name)}
                asks = any(isinstance(node, ast.Name) and node.id in names for test in part.ifs for node in walk(test))
                if asks and any(_is_share(over) for over, _ in _origins(part.iter, function, project)):
                    return True
    return False


def _opens_each(loop: ast.For) -> bool:
    names = {node.id for node in walk(loop.target) if isinstance(node, ast.Name)}
    return any(
        isinstance(node, ast.Call) and last_name(node.func) in _OPENS
        and names & {inner.id for inner in walk(node) if isinstance(inner, ast.Name)}
        for part in loop.body for node in walk(part)
    )  # fmt: skip


def _is_share(value: ast.expr) -> bool:
    """Whether a value is a slice that begins at the rank, as far as names tell."""
    return any(
        isinstance(node, ast.Slice)
        and node.step is not None
        and node.lower is not None
        and any(source_of(one) == RANK for one in walk(node.lower))
        for node in walk(value)
    )


def _by_rank(value: ast.expr, function: Function, tests: RankPredicates) -> bool:
    return any(tests.differs(node, function) for node in walk(value) if isinstance(node, ast.expr))


def _origins(value: ast.expr, function: Function, project: Project) -> Iterator[tuple[ast.expr, Function]]:
    """Yields the expressions that a loop's source is made of, through names, attributes and calls; bounded.

    A function that was come to through a call takes its arguments from that call alone.
    """
    waiting: list[_Asked] = [(value, function, None)]
    seen: set[tuple[int, int]] = set()
    while waiting and len(seen) < MOST_STEPS:
        one, where, entered = waiting.pop(0)
        if (id(one), id(entered)) in seen:
            continue
        seen.add((id(one), id(entered)))
        yield one, where
        for node in walk(one):
            if isinstance(node, ast.Name):
                waiting += _named(node.id, where, entered, project)
            elif isinstance(node, ast.Attribute):
                waiting += [(made, place, None) for made, place in project.attribute_values(node, where)[:4]]
            elif isinstance(node, ast.Call):
                for target in project.targets(node, where):
                    waiting += [(inner, target, (node, where)) for inner in _given_back(target)]


_Entered = tuple[ast.Call, Function]
_Asked = tuple[ast.expr, Function, _Entered | None]


def _given_back(function: Function) -> Iterator[ast.expr]:
    """Yields what a function returns and loops over to do so; of a constructor, what it keeps."""
    for node in function.own_nodes:
        if isinstance(node, ast.Return) and node.value is not None:
            yield node.value
        elif isinstance(node, ast.For):
            yield node.iter
        elif isinstance(node, ast.Assign) and function.name.endswith("__init__"):
            yield node.value


def _named(name: str, function: Function, entered: _Entered | None, project: Project) -> list[_Asked]:
    scope: Function | None = function
    while scope is not None:
        if name in scope.assigned:
            return [(value, scope, entered) for value in scope.assigned[name][:4]]
        if name in scope.parameters:
            if entered is not None and scope is function:
                return list(_passed(_argument(name, scope, entered[0]), entered[1]))
            return [one for value, caller in project.arguments(name, scope) for one in _passed([value], caller)][:4]
        scope = scope.outer
    return []


def _passed(values: Iterable[ast.expr], caller: Function) -> Iterator[_Asked]:
    yield from ((value, caller, None) for value in values)


def _argument(name: str, function: Function, call: ast.Call) -> Iterator[ast.expr]:
    at = function.parameters.index(name) - function.implied
    yield from (one.value for one in call.keywords if one.arg == name)
    if 0 <= at < len(call.args):
        yield call.args[at]
