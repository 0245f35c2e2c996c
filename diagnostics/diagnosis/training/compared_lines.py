"""Which lines hold the arithmetic of predictions and targets: by what they do, and by the names around them. Pure."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from diagnostics.core.frame import Frame
from diagnostics.dynamic.job.job import Job, JobProcess
from diagnostics.dynamic.job.job_sources import job_sources

SUBTRACTED, MULTIPLIED = "SubBackward0", ("MulBackward0", "DivBackward0")
_FUNCTION = re.compile(r"^([A-Za-z1]+?)(?:Loss)?Backward0$")
_LOSS = re.compile(r"loss|criterion|objective|nll|entropy|hinge|huber|pinball|quantile|penalty|mse|mae", re.IGNORECASE)
_ERROR = re.compile(r"(?:^|_)(?:err(?:or)?s?|diff(?:erence)?s?|resid(?:ual)?s?|delta|margins?)(?:_|$)", re.IGNORECASE)
_TARGET = re.compile(
    r"^(?:y|yb|y_?true|targets?|tgt|labels?|truth|goals?|wanted|returns?|rewards?|signs?|gold|ground_truth)$"
    r"|_(?:target|label|true|returns?)s?$|^(?:target|true|y)_",
    re.IGNORECASE,
)
_CHANCE = re.compile(r"log_?p|ratio|(?:^|_)prob|likelihood|(?:^|_)nll|picked|chosen", re.IGNORECASE)
_WEIGHT = re.compile(
    r"adv|gae|delta|gain|td_?err|td_?target|(?:^|_)(?:returns?|rewards?|values?|weights?|baseline|critic|targets?|w|g)$",
    re.IGNORECASE,
)
_MEASURED = re.compile(r"square|abs|pow|\*\*|mean|relu|clamp|log")
_WARNED = re.compile(
    r"(?<![^\s:])([^\s:]{1,400}\.py):(\d{1,7}): UserWarning: Using a target size \(torch\.Size\(\[(\d+)(?:, (1))?\]\)\)"
    r" that is different to the input size \(torch\.Size\(\[(\d+)(?:, (1))?\]\)\)"
)
MOST_WARNED = 20_000  # characters of each output


def warned_at(process: JobProcess) -> tuple[Frame, ...]:
    """Returns where torch itself warned that a loss is given one column and one row, of more than one element."""
    return tuple(
        Frame(file=file, line=int(line), function="")
        for text in (process.stderr[:MOST_WARNED], process.stderr[-MOST_WARNED:])
        for file, line, targets, of_targets, inputs, of_inputs in _WARNED.findall(text)
        if targets == inputs != "1" and of_targets != of_inputs
    )[:1]


def compared_at(job: Job, process: JobProcess, function: str, around: tuple[Frame, ...]) -> tuple[Frame, ...]:
    """Returns the line that most looks like this arithmetic of the loss; none where nothing speaks for one."""
    found: list[tuple[int, int, Frame]] = []
    sources = [(name, list(_statements(file.tree))) for name, file in job_sources(job, process)]
    losses = _names_of(function, [one for _, statements in sources for one, _ in statements])
    for name, statements in sources:
        here = bool(around) and name == around[0].file
        for statement, scope in statements:
            score = _score(statement, scope, function, losses)
            if score:
                frame = Frame(file=name, line=statement.lineno, function="")
                found.append((score + here, -abs(frame.line - around[0].line) if here else 0, frame))
    return (max(found, key=lambda one: one[:2])[2],) if found else ()


def weighed_at(job: Job, process: JobProcess, around: tuple[Frame, ...]) -> tuple[Frame, ...]:
    """Returns the line that makes the weights by a subtraction, and that which multiplies terms with them."""
    found: list[tuple[int, int, Frame, str]] = []
    sources = [(name, [one for one, _ in _statements(file.tree)]) for name, file in job_sources(job, process)]
    for name, statements in sources:
        here = bool(around) and name == around[0].file
        for statement in statements:
            frame = Frame(file=name, line=statement.lineno, function="")
            apart = -abs(frame.line - around[0].line) if here else -(10**6)
            for pair in _pairs(statement, (ast.Mult, ast.Div)):
                for term, weight in (pair, pair[::-1]):
                    score = 2 * bool(_CHANCE.search(term)) + bool(_WEIGHT.search(weight))
                    if score and not _CHANCE.search(weight):
                        found.append((score, apart, frame, weight))
    if not found:
        return ()
    _, _, product, weight = max(found, key=lambda one: one[:2])
    made = [
        Frame(file=name, line=statement.lineno, function="")
        for name, statements in sources
        for statement in statements
        if isinstance(statement, ast.Assign)
        and any(_last(target) == weight for target in statement.targets)
        and any(isinstance(one, ast.BinOp) and isinstance(one.op, ast.Sub) for one in ast.walk(statement.value))
    ]
    before = [one for one in made if one.file == product.file and one.line < product.line] or made
    return (*before[:1], product)  # the first: what follows may make its mean 0


def _statements(tree: ast.AST | None) -> Iterator[tuple[ast.stmt, str]]:
    """Yields each simple statement with the names of the classes and functions that it stands in."""
    waiting: list[tuple[ast.AST, str]] = [(tree, "")] if tree is not None else []
    while waiting:
        node, scope = waiting.pop()
        if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef):
            scope = f"{scope} {node.name}"
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.Assign | ast.AnnAssign | ast.AugAssign | ast.Return | ast.Expr):
                yield child, scope
            elif isinstance(child, ast.AST):
                waiting.append((child, scope))


def _names_of(function: str, statements: list[ast.stmt]) -> frozenset[str]:
    """Returns the names that a loss function has: its own, and those of the modules that are made of it."""
    match = _FUNCTION.match(function)
    wanted = _plain(f"{match[1]}Loss") if match is not None else ""
    made = {
        _last(target)
        for one in statements
        if isinstance(one, ast.Assign) and isinstance(one.value, ast.Call) and _plain(_last(one.value.func)) == wanted
        for target in one.targets
    }
    return frozenset(made | {wanted})


def _plain(name: str) -> str:
    return name.lower().replace("_", "")


def _score(statement: ast.stmt, scope: str, function: str, losses: frozenset[str]) -> int:
    """How much speaks for it; 0 where it does not do that arithmetic, or nothing does beside it."""
    if function == SUBTRACTED or function in MULTIPLIED:
        return _score_of_operands(statement, scope, function)
    names = [_last(node.func) for node in ast.walk(statement) if isinstance(node, ast.Call)]
    called = [one for one in names if not one[:1].isupper()]  # MSELoss() is made, not asked
    if any(one in losses or _plain(one) in losses for one in called):
        return 3
    return int(any("loss" in _plain(one) or "criterion" in one for one in called))


def _score_of_operands(statement: ast.stmt, scope: str, function: str) -> int:
    pairs = _pairs(statement, (ast.Sub,) if function == SUBTRACTED else (ast.Mult, ast.Div))
    if not any(all(pair) for pair in pairs):
        return 0
    targets = any(_TARGET.search(one) for pair in pairs for one in pair if all(pair))
    assigned = " ".join(node.id for node in ast.walk(statement) if isinstance(node, ast.Name) and _is_stored(node))
    said = bool(_LOSS.search(f"{scope} {assigned}")) or any(_ERROR.search(one) for one in assigned.split())
    measured = bool(_MEASURED.search(ast.unparse(statement)))
    return 3 * targets + 2 * said + measured if targets or said else 0


def _pairs(statement: ast.stmt, kinds: tuple[type[ast.operator], ...]) -> list[tuple[str, str]]:
    """Returns the names on both sides of each such operation, "" for a side without one."""
    return [
        (_last(node.left), _last(node.right))
        for node in ast.walk(statement)
        if isinstance(node, ast.BinOp) and isinstance(node.op, kinds)
    ]


def _is_stored(node: ast.Name) -> bool:
    return isinstance(node.ctx, ast.Store)


def _last(node: ast.expr) -> str:
    """Returns "returns" for mb.returns, "net" for net(x), "" for a number or a wider expression."""
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case ast.Call(func=ast.Attribute(value=value, attr="squeeze" | "float" | "detach" | "view" | "sign")):
            return _last(value)
        case ast.Call(func=function):
            return _last(function)
        case ast.Subscript(value=value) | ast.UnaryOp(operand=value):
            return _last(value)
    return ""
