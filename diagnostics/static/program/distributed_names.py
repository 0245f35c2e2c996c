"""Which calls in a file are operations of torch.distributed that the agents record. Pure."""

from __future__ import annotations

import ast

from diagnostics.agent.shared import operations
from diagnostics.static.program.ast_walk import statements
from diagnostics.static.program.cfg_expressions import dotted

RECORDED = frozenset(operations.MEETINGS)
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_HOMES = ("dist", "distributed", "distributed_c10d")


def names_of_distributed(tree: ast.AST) -> frozenset[str]:
    """Returns the names that a file binds to torch.distributed or to what is in it."""
    found = set()
    defined = {one.name for one in statements(tree) if isinstance(one, _DEFINITIONS)}
    for node in statements(tree):
        if isinstance(node, ast.ImportFrom) and "distributed" in (node.module or "").split("."):
            found |= {alias.asname or alias.name for alias in node.names}
            if node.names[0].name == "*" and node.module == "torch.distributed":
                found |= RECORDED - defined
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            found |= {alias.asname for alias in node.names if alias.asname and "distributed" in alias.name.split(".")}
            if isinstance(node, ast.ImportFrom):
                found |= {alias.name for alias in node.names if alias.name == "distributed" and not alias.asname}
    return frozenset(found)


def is_distributed_call(call: ast.AST | None, names: frozenset[str]) -> bool:
    """Whether a call is one that the agents record; `names` are those that its file binds to torch.distributed."""
    if not isinstance(call, ast.Call):
        return False
    module, _, name = dotted(call.func).rpartition(".")
    if name not in RECORDED:
        return False
    return module in names or module.rpartition(".")[2] in _HOMES if module else name in names
