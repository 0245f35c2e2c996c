"""Which names and lines of a source file depend on the rank. Pure, and flow-insensitive: a name counts everywhere."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass

from diagnostics.dynamic.model.model_classes import called_name
from diagnostics.static.dataflow.taint_sources import RANK, source_of
from diagnostics.static.program.ast_walk import walk

_HOST_CALLS, _HOST_VARIABLE = {"gethostname", "node"}, "HOSTNAME"
_CHANCE = re.compile(r"^(?:random|np\.random|numpy\.random|time|uuid|secrets|os)\.(?:\w+\.)*\w+$")
_CHANCY = {"random", "randint", "choice", "shuffle", "sample", "rand", "uniform", "time", "time_ns", "uuid4", "urandom",
           "listdir", "token_hex", "getrandbits", "randrange"}  # fmt: skip
MAX_ROUNDS = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class FileTaint:
    """What depends on the rank in one file: names, and statements in which the rank itself is read."""

    names: frozenset[str]
    sources: tuple[ast.stmt, ...]


def rank_taint(tree: ast.AST, *, chance: bool = False) -> FileTaint:
    """Returns what depends on the rank in `tree`; with `chance` what depends on random numbers, time or a listing."""
    names: set[str] = set()
    statements = [node for node in walk(tree) if isinstance(node, ast.stmt)]
    for _ in range(MAX_ROUNDS):
        before = len(names)
        for statement in statements:
            names |= _spread(statement, names, chance)
        if len(names) == before:
            break
    sources = tuple(one for one in statements if not _is_block(one) and depends(one, frozenset(), chance=chance))
    return FileTaint(names=frozenset(names), sources=sources)


def depends(node: ast.AST, names: frozenset[str] | set[str], *, chance: bool = False) -> bool:
    """Whether the rank is read in `node`, or one of `names`."""
    return any(_is_source(inner, chance) or _name(inner) in names for inner in walk(node))


def _is_block(statement: ast.stmt) -> bool:
    return hasattr(statement, "body")


def _name(node: ast.AST) -> str | None:
    if isinstance(node, ast.Name):
        return node.id
    return node.attr if isinstance(node, ast.Attribute) else None


def _is_source(node: ast.AST, chance: bool) -> bool:
    if chance:
        return (
            isinstance(node, ast.Call) and called_name(node) in _CHANCY and bool(_CHANCE.match(ast.unparse(node.func)))
        )
    if isinstance(node, ast.Call) and called_name(node) in _HOST_CALLS:
        return True
    return source_of(node) == RANK or (isinstance(node, ast.Constant) and node.value == _HOST_VARIABLE)


def _spread(statement: ast.stmt, names: set[str], chance: bool) -> set[str]:
    """Returns the names that a statement makes depend on the rank."""
    found: set[str] = set()
    match statement:
        case ast.Assign(targets=targets, value=value) if depends(value, names, chance=chance):
            found |= {inner for target in targets for inner in _bound(target)}
        case ast.AnnAssign(target=target, value=value) | ast.AugAssign(target=target, value=value) if (
            value is not None and depends(value, names, chance=chance)
        ):
            found |= _bound(target)
        case ast.For(target=target, iter=over) if depends(over, names, chance=chance):
            found |= _bound(target)
        case ast.If(test=test, body=body, orelse=other) if depends(test, names, chance=chance):
            for inner in (*body, *other):
                if isinstance(inner, (ast.Assign, ast.AugAssign)):
                    targets = inner.targets if isinstance(inner, ast.Assign) else [inner.target]
                    found |= {name for target in targets for name in _bound(target)}
        case ast.FunctionDef(name=name):
            returns = [node.value for node in walk(statement) if isinstance(node, ast.Return) and node.value]
            if any(depends(value, names, chance=chance) for value in returns):
                found.add(name)
    return found


def _bound(target: ast.expr) -> set[str]:
    """Returns the names a target binds: not `self` of `self.x`, and `d` of `d["x"]`."""
    if isinstance(target, ast.Name):
        return {target.id}
    if isinstance(target, ast.Attribute):
        return {target.attr}
    if isinstance(target, (ast.Tuple, ast.List)):
        return {name for item in target.elts for name in _bound(item)}
    return _bound(target.value) if isinstance(target, (ast.Subscript, ast.Starred)) else set()


def enclosing_branch(tree: ast.AST, line: int, taint: FileTaint) -> ast.If | ast.IfExp | None:
    """Returns the innermost branch around `line` whose condition depends on the rank."""
    around = [
        node
        for node in walk(tree)
        if isinstance(node, (ast.If, ast.IfExp))
        and node.lineno <= line <= (node.end_lineno or node.lineno)
        and depends(node.test, taint.names)
    ]
    return max(around, key=lambda node: node.lineno, default=None)
