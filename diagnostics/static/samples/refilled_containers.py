"""Containers that are kept somewhere as they are, and then emptied and filled again. Pure.

Of attributes the life of the object is looked at, of local names the loop that holds both.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.functions import Function, last_name, paired
from diagnostics.static.program.object_kinds import given
from diagnostics.static.program.project import Project

_KEEPS = frozenset(["append", "appendleft"])
_LETS_GO = frozenset(["pop", "popleft", "popitem"])
_EMPTIES = frozenset(["clear", "fill", "fill_", "zero_"])
_FILLS = frozenset(["append", "appendleft", "extend", "insert", "add", "update", "setdefault", "copy_"])
_LISTS = frozenset(["list", "dict", "set", "deque", "defaultdict", "OrderedDict"])
_ARRAYS = frozenset(
    ["zeros", "empty", "ones", "full", "zeros_like", "empty_like", "ones_like", "full_like", "bytearray"]
)
BEGINS = frozenset(["__init__", "__post_init__", "__new__", "__enter__", "__getstate__", "__setstate__"])
_ENDS = frozenset(["__exit__", "__del__", "close", "shutdown", "stop", "teardown", "cleanup", "finish"])
_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_MOST_TARGETS = 3


@dataclass(frozen=True, slots=True, eq=False)
class Put:
    """A container that something keeps: `self.memory.append(self.episode)`."""

    node: ast.AST
    function: Function
    container: str
    holder: str
    keeps: Keeping | None = None  # where the holder is an object of the project: its own list


@dataclass(frozen=True, slots=True, eq=False)
class Keeping:
    """The list of an object of the project that grows by what a method is given."""

    kind: ast.ClassDef
    attribute: str


@dataclass(frozen=True, slots=True, eq=False)
class Use:
    """What a function does with a container: empties it, fills it, gives its name another one, lets go of items."""

    node: ast.AST
    container: str
    empties: bool = False
    fills: bool = False
    binds: ast.expr | None = None
    lets_go: bool = False


def puts(function: Function, project: Project) -> Iterator[Put]:
    """Yields what a function has kept as it is."""
    for node in function.nodes_of((ast.Call, ast.Assign)):
        for holder, value, keeps in _kept(node, function, project):
            for one in _as_they_are(value, function, project):
                if ast.unparse(one) != ast.unparse(holder):
                    yield Put(node, function, ast.unparse(one), ast.unparse(holder), keeps)


def _kept(node: ast.AST, function: Function, project: Project) -> Iterator[tuple[ast.expr, ast.expr, Keeping | None]]:
    """Yields (holder, what it is given)."""
    match node:
        case ast.Call(func=ast.Attribute(value=holder, attr=attr), args=[value], keywords=[]) if attr in _KEEPS:
            yield _whole(holder), value, None
        case ast.Call(func=ast.Attribute(value=holder)):
            targets = project.targets(node, function)[:_MOST_TARGETS] if _is_plain(holder) else ()
            if len(targets) == 1 and targets[0].owner is not None:
                method = targets[0]
                handed = dict(given(node, method.parameters[method.implied :]))
                for put in _own_puts(method) if handed else ():
                    if put[0] in handed and method.owner is not None:
                        yield holder, handed[put[0]], Keeping(method.owner, put[1])
        case ast.Assign(targets=[ast.Subscript(value=holder, slice=index)], value=value):
            if not isinstance(index, (ast.Constant, ast.Slice, ast.UnaryOp)) and _is_plain(holder):
                yield holder, value, None


def _own_puts(method: Function) -> Iterator[tuple[str, str]]:
    """Yields (parameter, attribute) where a method appends what it is given, as it is, to its object's own list."""
    for node in method.nodes_of(ast.Call):
        match node:
            case ast.Call(func=ast.Attribute(value=held, attr=attr), args=[value], keywords=[]) if attr in _KEEPS:
                parts = value.elts if isinstance(value, ast.Tuple) else [value]
                for one in parts:
                    if isinstance(one, ast.Name) and one.id in method.parameters and one.id not in method.assigned:
                        match _whole(held):
                            case ast.Attribute(value=ast.Name(id="self"), attr=name):
                                yield one.id, name


def _as_they_are(value: ast.expr, function: Function, project: Project) -> Iterator[ast.expr]:
    """Yields the names in a value that is kept: itself, the parts of a tuple, dict or record."""
    if _is_plain(value):
        yield value
    elif isinstance(value, (ast.Tuple, ast.List)):
        yield from (one for one in value.elts if _is_plain(one))
    elif isinstance(value, ast.Dict):
        yield from (one for one in value.values if _is_plain(one))
    elif isinstance(value, ast.Call):
        yield from (one for _, one in project.given_fields(value, function) if _is_plain(one))


def _is_plain(value: ast.expr) -> bool:
    """Whether a value is a name or an attribute of the object itself."""
    if isinstance(value, ast.Attribute):
        return isinstance(value.value, ast.Name) and value.value.id == "self"
    return isinstance(value, ast.Name) and value.id not in ("self", "cls")


def _whole(holder: ast.expr) -> ast.expr:
    """Returns the container that an item is one of: `self.episodes` of `self.episodes[env]`."""
    while isinstance(holder, ast.Subscript):
        holder = holder.value
    return holder


def uses(nodes: Sequence[ast.AST]) -> Iterator[Use]:
    """Yields what statements do to containers."""
    for node in nodes:
        match node:
            case ast.Call(func=ast.Attribute(value=held, attr=attr)) if attr in _EMPTIES:
                yield Use(node, ast.unparse(held), empties=True)
            case ast.Call(func=ast.Attribute(value=held, attr=attr)) if attr in _FILLS:
                yield Use(node, ast.unparse(_whole(held)), fills=True)
            case ast.Call(func=ast.Attribute(value=held, attr=attr)) if attr in _LETS_GO:
                yield Use(node, ast.unparse(held), lets_go=True)
            case ast.Assign(targets=targets, value=value):
                for target in targets:
                    yield from _assigned(node, target, value)
            case ast.AnnAssign(target=target, value=value) if value is not None:
                yield from _assigned(node, target, value)
            case ast.AugAssign(target=target):
                yield Use(node, ast.unparse(_whole(target)), fills=True)
            case ast.Delete(targets=targets):
                for target in targets:
                    cut = isinstance(target, ast.Subscript) and _is_everything(target.slice)
                    yield Use(node, ast.unparse(_whole(target)), empties=cut, lets_go=not cut)
            case ast.For(target=target, iter=over):
                yield from (Use(node, name, binds=over) for name in _stored(target))
                yield from _in_turn(node)
            case ast.NamedExpr(target=target, value=value):
                yield Use(node, ast.unparse(target), binds=value)
            case ast.withitem(optional_vars=target, context_expr=value) if target is not None:
                yield from (Use(node, name, binds=value) for name in _stored(target))


def _assigned(node: ast.AST, target: ast.expr, value: ast.expr) -> Iterator[Use]:
    for name, part in paired(target, value):
        if not isinstance(name, ast.Subscript):
            yield Use(node, ast.unparse(name), binds=part)
        elif _is_everything(name.slice):
            empty = isinstance(part, (ast.List, ast.Tuple)) and not part.elts
            yield Use(node, ast.unparse(name.value), empties=empty, fills=not empty)
        else:
            yield Use(node, ast.unparse(_whole(name)), fills=True)


def _is_everything(index: ast.expr) -> bool:
    whole = isinstance(index, ast.Slice) and not (index.lower or index.upper or index.step)
    return whole or (isinstance(index, ast.Constant) and index.value is Ellipsis)


def _stored(target: ast.expr) -> Iterator[str]:
    yield from (node.id for node in walk(target) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store))


def _in_turn(loop: ast.For) -> Iterator[Use]:
    """Yields what is emptied under another name: `for part in (self.states, self.actions): part.clear()`."""
    if not isinstance(loop.iter, (ast.Tuple, ast.List)) or not isinstance(loop.target, ast.Name):
        return
    for node in (inner for one in loop.body for inner in walk(one)):
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=attr)) if attr in _EMPTIES:
                if name == loop.target.id:
                    yield from (Use(node, ast.unparse(one), empties=True) for one in loop.iter.elts)


def is_list(value: ast.expr | None) -> bool:
    """Whether a value is a new list, dict or set."""
    if isinstance(value, (ast.ListComp, ast.DictComp, ast.SetComp, ast.List, ast.Dict, ast.Set)):
        return True
    return isinstance(value, ast.Call) and last_name(value.func) in _LISTS


def is_array(value: ast.expr | None) -> bool:
    """Whether a value is a new array or tensor."""
    return isinstance(value, ast.Call) and last_name(value.func) in _ARRAYS


def refilled_in_loop(function: Function, project: Project) -> Iterator[tuple[Put, Use]]:
    """Yields (put, what empties it) of local containers that one loop keeps and empties."""
    loops = [one for one in function.nodes_of(_LOOPS) if isinstance(one, _LOOPS)]
    for put in puts(function, project) if loops else ():
        if "." in put.container:
            continue
        made = function.assigned.get(put.container, [])
        lists, arrays = bool(made) and all(map(is_list, made)), bool(made) and all(map(is_array, made))
        around = [one for one in loops if any(node is put.node for node in walk(one))] if lists or arrays else []
        for loop in reversed(around):  # the innermost first
            inside = [node for one in loop.body for node in walk(one)]
            done = [*uses([loop, *inside] if isinstance(loop, ast.For) else inside)]
            mine = [one for one in done if one.container == put.container]
            held = [one for one in done if one.container == put.holder]
            if any(one.binds is not None for one in (*mine, *held)) or _is_let_go(held):
                break
            if _leaves(put.node, inside):
                break
            emptied = next((one for one in mine if one.empties or (arrays and one.fills)), None)
            if (
                emptied is not None
                and (arrays or any(one.fills for one in mine))
                and _is_kept_long(put, loop, function)
            ):
                yield put, emptied
                break


def _is_let_go(held: Sequence[Use]) -> bool:
    return any(one.lets_go or one.empties for one in held)


def _is_kept_long(put: Put, loop: ast.AST, function: Function) -> bool:
    """Whether a holder is made outside of a loop, as a list or as an object that has one."""
    if put.keeps is not None:
        return put.holder.startswith("self.") or put.holder in function.assigned
    if put.holder.startswith("self."):
        return False  # its life is that of the object
    made = function.assigned.get(put.holder, [])
    return bool(made) and all(map(is_list, made))


def _leaves(node: ast.AST, inside: Sequence[ast.AST]) -> bool:
    """Whether the block that a statement is in ends the loop behind it: what it keeps is kept once."""
    blocks = (block for one in inside for block in (getattr(one, "body", None), getattr(one, "orelse", None)))
    return any(
        isinstance(block, list)
        and isinstance(block[-1:][0] if block else None, (ast.Break, ast.Return, ast.Raise))
        and any(node is inner for part in block for inner in walk(part))
        for block in blocks
    )


def refilled_attributes(kind: ast.ClassDef, project: Project) -> Iterator[tuple[Put, Use, Function]]:
    """Yields (put, what empties it, where) of attributes that the methods of a class keep, empty and fill."""
    methods = [one for one in project.functions_seeing(kind) if one.owner is kind]
    done = [(one, method) for method in methods for one in uses(method.own_nodes)]
    for method in methods:
        if method.name.rpartition(".")[2] in BEGINS:
            continue
        for put in puts(method, project):
            mine = [(one, where) for one, where in done if one.container == put.container]
            if not put.container.startswith("self.") or not _is_made_once(mine):
                continue
            lists = all(is_list(one.binds) for one, _ in mine if one.binds is not None)
            emptied = [(one, where) for one, where in mine if _last(where) not in (BEGINS | _ENDS)
                       and (one.empties or (not lists and one.fills and where is method))]  # fmt: skip
            filled = any(one.fills and _last(where) not in BEGINS for one, where in mine)
            if not emptied or not filled or not _keeps_on(put, kind, done, project) or _is_registered(put, method):
                continue
            if not _is_changed_from_outside(put.container.partition(".")[2], kind, project):
                yield put, *emptied[0]


def _last(function: Function) -> str:
    return function.name.rpartition(".")[2]


def _is_made_once(mine: Sequence[tuple[Use, Function]]) -> bool:
    """Whether an attribute is made where the object is, and never gets another container."""
    bound = [(one.binds, where) for one, where in mine if one.binds is not None]
    made = [value for value, _ in bound]
    return bool(bound) and all(_last(where) in BEGINS for _, where in bound) and (
        all(map(is_list, made)) or all(map(is_array, made))
    )  # fmt: skip


def _keeps_on(put: Put, kind: ast.ClassDef, done: Sequence[tuple[Use, Function]], project: Project) -> bool:
    """Whether a holder lives as long as the object, and nothing empties it or takes its items out."""
    if put.keeps is not None:
        methods = [one for one in project.functions_seeing(put.keeps.kind) if one.owner is put.keeps.kind]
        done = [(one, method) for method in methods for one in uses(method.own_nodes)]
        kind, name = put.keeps.kind, put.keeps.attribute
    elif put.holder.startswith("self."):
        name = put.holder.partition(".")[2]
    else:
        return False
    held = [(one, where) for one, where in done if one.container == f"self.{name}"]
    bound = [(one, where) for one, where in held if one.binds is not None]
    if not bound or any(_last(where) not in BEGINS or not is_list(one.binds) for one, where in bound):
        return False
    if any(one.empties or (one.lets_go and not _is_dropped(one.node, where)) for one, where in held):
        return False
    return not _is_changed_from_outside(name, kind, project)


def _is_dropped(node: ast.AST, function: Function) -> bool:
    """Whether an item is taken out under a test and thrown away: a memory that is full loses its oldest."""
    for outer in function.nodes_of((ast.If, ast.While)):
        for part in getattr(outer, "body", ()):
            if part is node or (isinstance(part, ast.Expr) and part.value is node):
                return True
    return False


def _is_registered(put: Put, function: Function) -> bool:
    """Whether a container is only put in where it is not in yet: `if x not in self.all`."""
    return any(
        isinstance(node, ast.Compare) and any(isinstance(op, (ast.NotIn, ast.In)) for op in node.ops)
        and ast.unparse(node.left) == put.container
        for node in function.nodes_of(ast.Compare)
    )  # fmt: skip


def _is_changed_from_outside(name: str, kind: ast.ClassDef, project: Project) -> bool:
    """Whether anything sets or empties an attribute of this name of another object than itself."""
    own = {id(one) for one in project.functions_seeing(kind)}
    for value, where in project.attributes.get(name, ()):
        targets = (
            target for node in where.nodes_of(ast.Assign) if isinstance(node, ast.Assign) and node.value is value
            for target in node.targets
        )  # fmt: skip
        if any(isinstance(one, ast.Attribute) and ast.unparse(one.value) != "self" for one in targets):
            return True
    calls = (one for called in (*_EMPTIES, *_LETS_GO) for one in project.calls_by_name.get(called, ()))
    held = [(call.func.value, where) for call, where in calls if isinstance(call.func, ast.Attribute)]
    return any(
        isinstance(one, ast.Attribute)
        and one.attr == name
        and id(where) not in own
        and ast.unparse(one.value) != "self"
        for one, where in held
    )
