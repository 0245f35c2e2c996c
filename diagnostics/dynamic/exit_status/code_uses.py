"""Whether what a line of a Python program got from a call was looked at. Pure."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.exception_flow import spans
from diagnostics.static.program.source_file import SourceFile


def result_is_used(source: SourceFile, line: int, functions: Sequence[str]) -> bool:
    """Whether what a line got from the call of one of some functions was looked at.

    Where it calls them by other names, whether the line is more than a call.
    """
    names = {one.rpartition(".")[2] for one in functions}
    nodes = [node for node in walk(source.tree) if spans(node, line)] if source.tree is not None else []
    calls = [node for node in nodes if isinstance(node, ast.Call) and _called(node) in names]
    if not calls:
        return not isinstance(source.statement_at(line), ast.Expr)
    above = {child: node for node in nodes for child in ast.iter_child_nodes(node)}
    return any(_goes_somewhere(_whole_chain(node, above), above, loaded_names(source)) for node in calls)


def _whole_chain(node: ast.AST, above: dict[ast.AST, ast.AST]) -> ast.AST:
    """Returns `run(x).check_returncode()` of `run(x)`."""
    while isinstance(above.get(node), ast.Attribute) and isinstance(above.get(above[node]), ast.Call):
        node = above[above[node]]
    return node


def loaded_names(source: SourceFile) -> frozenset[str]:
    """Returns the names that are looked at anywhere in a file."""
    nodes = walk(source.tree) if source.tree is not None else ()
    return frozenset(node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load))


def is_read(target: ast.expr, loaded: frozenset[str]) -> bool:
    """Whether what is assigned is looked at anywhere in the file."""
    if isinstance(target, ast.Name):
        return target.id in loaded
    if isinstance(target, (ast.Tuple, ast.List)):
        return any(is_read(one, loaded) for one in target.elts)
    return True


def _called(node: ast.Call) -> str:
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


def _goes_somewhere(node: ast.AST, above: dict[ast.AST, ast.AST], loaded: frozenset[str]) -> bool:
    parent = above.get(node)
    while isinstance(parent, (ast.Await, ast.ListComp, ast.GeneratorExp, ast.List, ast.Tuple, ast.NamedExpr)):
        if isinstance(parent, ast.NamedExpr) and parent.target.id in loaded:
            return True
        node, parent = parent, above.get(parent)
    if isinstance(parent, ast.Compare):  # `is None` asks whether it has ended, not how
        return not all(isinstance(one, (ast.Is, ast.IsNot)) for one in parent.ops)
    if isinstance(parent, ast.Expr):
        return False
    if isinstance(parent, (ast.Assign, ast.AnnAssign)):
        targets = parent.targets if isinstance(parent, ast.Assign) else [parent.target]
        return any(is_read(target, loaded) for target in targets)
    return True
