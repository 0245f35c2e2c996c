"""The dotted path of a module whose constructor was running, from recorded call paths and the source lines.

The call path of a recorded construction starts in its own `__init__`. A constructor is still running while a later
construction is called from a deeper frame of it. The attribute comes from the statement in the parent's
constructor (`self.attn = Attention(...)`), the index in a container from counting.

Which attribute of its parent a statement gives a new module to: `self.attn = Attention(...)` and its kin.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Sequence

from diagnostics.core.frame import Frame
from diagnostics.record.agent_data import Construction
from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.source_file import SourceFile, SourceStore

_CONTAINERS = {"ModuleList", "Sequential", "list", "tuple"}


def open_constructions(
    constructions: Sequence[Construction], crashed_in: Sequence[Frame] = ()
) -> tuple[Construction, ...]:
    """Returns the constructors that were running, outermost first.

    At a crash with the user frames `crashed_in` (innermost first), else when the last of `constructions`
    (oldest first) began.
    """
    if not crashed_in:
        return tuple(_open_chain(constructions))
    last = constructions[-1] if constructions else None
    if last is not None and not last.own and _same_lines(last.path, crashed_in):
        return tuple(_open_chain(constructions))  # died inside a library's constructor
    crash = Construction(sequence=1 << 62, class_name="", path=tuple(crashed_in), own=0)
    return tuple(_open_chain([*constructions, crash])[:-1])


def construction_path(
    chain: Sequence[Construction], constructions: Sequence[Construction], sources: SourceStore
) -> tuple[str, str]:
    """Returns (dotted path, root class) of the innermost of `chain`; the root's own path is ""."""
    parts = [_segment(parent, child, constructions, sources) for parent, child in itertools.pairwise(chain)]
    return ".".join(parts), chain[0].class_name if chain else ""


def _same_lines(path: Sequence[Frame], other: Sequence[Frame]) -> bool:
    return [(one.file, one.line) for one in path] == [(one.file, one.line) for one in other]


def _plain(frame: Frame) -> str:
    """Python before 3.11 and faulthandler know `__init__` only, not `Net.__init__`."""
    return frame.function.rpartition(".")[2]


def _open_chain(constructions: Sequence[Construction]) -> list[Construction]:
    """Returns the constructors that were running when the last one began, outermost first."""
    if not constructions:
        return []
    chain = [constructions[-1]]
    for earlier in reversed(constructions[:-1]):
        if _is_inside(chain[-1], earlier) is not None:
            chain.append(earlier)
    return chain[::-1]


def _is_inside(inner: Construction, outer: Construction) -> Frame | None:
    """Returns the frame of `outer`'s constructor from which `inner` was called, None where it was not.

    `outer` may have reached Module.__init__ through several levels of super().__init__().
    """
    for level, own in enumerate(outer.path[: outer.own]):
        callers = outer.path[level + 1 :]
        at = len(inner.path) - len(callers) - 1
        if at < min(inner.own, 1) or not _same_lines(inner.path[at + 1 :], callers):
            continue
        frame = inner.path[at]
        if frame.file == own.file and _plain(frame) == _plain(own) and frame.line != own.line:
            return frame
    return None


def _segment(
    parent: Construction, child: Construction, all_of_them: Sequence[Construction], sources: SourceStore
) -> str:
    """Returns the child's name in its parent: `attn`, `levels.1`, or `<Class>` where the source does not tell."""
    frame = _is_inside(child, parent)
    if frame is None:
        return f"<{child.class_name}>"
    source = sources.file(frame.file)
    statement = source.statement_at(frame.line)
    attribute, contained = attribute_of(statement, source, frame.line, child.class_name)
    if not attribute:
        return f"<{child.class_name}>"
    return f"{attribute}.{_index(parent, child, statement, all_of_them)}" if contained else attribute


def _index(
    parent: Construction, child: Construction, statement: ast.stmt | None, all_of_them: Sequence[Construction]
) -> str:
    """Returns how many siblings the same statement made before `child`; "?" where the parent's beginning is lost."""
    if statement is None:
        return "?"
    since = [one for one in all_of_them if parent.sequence < one.sequence < child.sequence]
    siblings = -1 if _begins_first(statement) else 0
    for position, one in enumerate(since):
        frame = _is_inside(one, parent)
        if frame is None or not statement.lineno <= frame.line <= (statement.end_lineno or statement.lineno):
            continue
        if not any(_is_inside(one, between) for between in since[:position]):
            siblings += 1
    return str(max(0, siblings))


def _begins_first(statement: ast.stmt) -> bool:
    """Whether a container's constructor runs before what it holds is made: `ModuleList(Block() for _ in range(3))`."""
    call = getattr(statement, "value", None)
    return isinstance(call, ast.Call) and any(isinstance(one, ast.GeneratorExp) for one in call.args)


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
