"""Which attribute of its parent a statement gives a new module to: `self.attn = Attention(...)` and its kin. Pure."""

from __future__ import annotations

import ast

from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.source_file import SourceFile

_CONTAINERS = {"ModuleList", "Sequential", "list", "tuple"}


def attribute_of(statement: ast.stmt | None, source: SourceFile, line: int, class_name: str) -> tuple[str, bool]:
    """Returns the attribute a statement gives its module to, and whether inside a container."""
    if isinstance(statement, ast.AnnAssign) and statement.value is not None:
        statement = ast.copy_location(ast.Assign([statement.target], statement.value), statement)
    if isinstance(statement, ast.Assign):
        target, contained = statement.targets[0], _is_contained(statement.value, class_name)
        if isinstance(target, ast.Attribute):
            key = _key_of(statement.value, class_name)
            return (f"{target.attr}.{key}", False) if key else (target.attr, contained)
        if isinstance(target, ast.Name):
            return _attribute_of_local(target.id, source, line) or ("", False)
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        return _attribute_of_call(statement.value, source, line)
    return "", False


def _attribute_of_call(call: ast.Call, source: SourceFile, line: int) -> tuple[str, bool]:
    """`self.blocks.append(Block())`, `blocks.append(Block())`, `self.add_module("attn", Attention())`."""
    function = call.func
    if not isinstance(function, ast.Attribute):
        return "", False
    if function.attr in ("add_module", "register_module") and call.args and isinstance(call.args[0], ast.Constant):
        return str(call.args[0].value), False
    if function.attr in ("append", "extend"):
        if isinstance(function.value, ast.Attribute):
            return function.value.attr, True
        if isinstance(function.value, ast.Name):
            attribute, _ = _attribute_of_local(function.value.id, source, line) or ("", False)
            return attribute, True
    return "", False


def _attribute_of_local(name: str, source: SourceFile, line: int, hops: int = 3) -> tuple[str, bool] | None:
    """Follows a local variable to the attribute it ends in, within the same function."""
    function = source.function_at(line)
    for node in walk(function) if function is not None else ():
        if not any(isinstance(part, ast.Name) and part.id == name for part in walk(node)):
            continue
        match node:
            case ast.Assign(targets=[ast.Attribute(attr=attribute)], value=value):
                return attribute, not isinstance(value, ast.Name)
            case ast.Expr(value=ast.Call(func=ast.Attribute(attr="append", value=ast.Attribute(attr=attribute)))):
                return attribute, True
            case ast.Expr(value=ast.Call(func=ast.Attribute(attr="append", value=ast.Name(id=other)))) if hops:
                found = _attribute_of_local(other, source, line, hops - 1)
                return (found[0], True) if found else None
    return None


def _key_of(value: ast.expr, class_name: str) -> str:
    """Returns the key in `ModuleDict({"u": Head()})` whose value is of this class, "" where there is none."""
    name = class_name.rpartition(".")[2]
    for node in walk(value):
        for key, item in zip(node.keys, node.values, strict=True) if isinstance(node, ast.Dict) else ():
            called = any(getattr(part, "attr", getattr(part, "id", "")) == name for part in walk(item))
            if called and isinstance(key, ast.Constant):
                return str(key.value)
    return ""


def _is_contained(value: ast.expr, class_name: str) -> bool:
    """Whether the statement's outermost call is a container around the module and not the module itself."""
    if isinstance(value, (ast.List, ast.Tuple, ast.ListComp)):
        return True
    if not isinstance(value, ast.Call):
        return False
    function = value.func
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    return name in _CONTAINERS and name != class_name.rpartition(".")[2]
