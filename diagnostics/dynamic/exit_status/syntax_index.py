"""Where names, attributes and functions of a program's files are used: looked up, not looked for. Pure."""

from __future__ import annotations

import ast
import os
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property, lru_cache
from pathlib import Path

from diagnostics.dynamic.exit_status.call_kinds import CallKind, call_kind
from diagnostics.static.program.ast_walk import children, walk
from diagnostics.static.program.functions import last_name
from diagnostics.static.program.source_file import SourceFile

DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)
_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_BLOCKS = ("body", "orelse", "finalbody")
_PLAIN_DECORATORS = frozenset(["staticmethod", "classmethod", "property", "cached_property", "cache", "lru_cache"])


def own_nodes(nodes: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """Yields nodes and what is below them, without the bodies of functions and classes defined there."""
    waiting = list(nodes)
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, (*DEFINITIONS, ast.ClassDef)):
            waiting += children(node)


@lru_cache(maxsize=4)
def syntax_index(sources: tuple[SourceFile, ...]) -> SyntaxIndex:
    """Returns the index of some files: many ranks that failed are asked about with the same ones."""
    return SyntaxIndex(sources)


class SyntaxIndex:
    """The nodes of some files, by what they stand for."""

    def __init__(self, sources: Sequence[SourceFile]) -> None:
        files = {Path(os.path.normpath(one.path)): one.tree for one in reversed(sources)}  # one may have two names
        self._trees = [tree for tree in files.values() if tree is not None]
        self.above: dict[ast.AST, ast.AST] = {}
        self.functions: defaultdict[str, list[ast.FunctionDef | ast.AsyncFunctionDef]] = defaultdict(list)
        self.classes: defaultdict[str, list[ast.ClassDef]] = defaultdict(list)
        self.attributes: defaultdict[str, list[ast.Attribute]] = defaultdict(list)
        self._names: defaultdict[str, list[ast.Name]] = defaultdict(list)
        self._imported: defaultdict[str, list[ast.AST]] = defaultdict(list)  # name -> the files that import it
        self._modules = {part for path in files for part in (path.stem, path.parent.name)}
        self._bound_by_import: dict[tuple[ast.AST, str], str] = {}  # file and name in it -> the module it is of
        for tree in self._trees:
            for node in walk(tree):
                self.above.update((below, node) for below in children(node))
                self._note(node, tree)

    def _note(self, node: ast.AST, tree: ast.Module) -> None:
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                self.functions[node.name].append(node)
            case ast.ClassDef():
                self.classes[node.name].append(node)
            case ast.Attribute(ctx=ast.Load()):
                self.attributes[node.attr].append(node)
            case ast.Name():
                self._names[node.id].append(node)
            case ast.ImportFrom():
                for alias in node.names:
                    self._imported[alias.name].append(tree)
                    of = alias.name if alias.name in self._modules else (node.module or alias.name)
                    self._bound_by_import[tree, alias.asname or alias.name] = of.rpartition(".")[2]
            case ast.Import():
                for alias in node.names:
                    name = alias.asname or alias.name.partition(".")[0]
                    self._bound_by_import[tree, name] = alias.name.rpartition(".")[2]

    def _ancestors(self, node: ast.AST) -> Iterator[ast.AST]:
        above = self.above.get(node)
        while above is not None:
            yield above
            above = self.above.get(above)

    # Names.

    def function_of(self, node: ast.AST) -> ast.AST | None:
        """Returns the function around a node."""
        return next((one for one in self._ancestors(node) if isinstance(one, DEFINITIONS)), None)

    def scope_of(self, name: ast.Name) -> ast.AST:
        """Returns the function, comprehension or file in which a name is bound."""
        last: ast.AST = name
        for one in self._ancestors(name):
            last = one
            if isinstance(one, _COMPREHENSIONS) and self._binds_in(one, name.id):
                return one
            if isinstance(one, (*DEFINITIONS, ast.Lambda)) and name.id in self._bound(one):
                return one
        return last

    def _binds_in(self, whole: ast.AST, name: str) -> bool:
        return any(_has_name(part.target, name) for part in getattr(whole, "generators", ()))

    def _bound(self, function: ast.AST) -> frozenset[str]:
        """Returns the names that are a function's own."""
        if function not in self._bounds:
            inside = list(own_nodes(getattr(function, "body", ()) if isinstance(function, DEFINITIONS) else ()))
            stored = {one.id for one in inside if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)}
            stored |= {one.name for one in inside if isinstance(one, ast.ExceptHandler) and one.name}
            outer = {name for one in inside if isinstance(one, ast.Global | ast.Nonlocal) for name in one.names}
            self._bounds[function] = frozenset((stored | set(self.parameters(function))) - outer)
        return self._bounds[function]

    @cached_property
    def _bounds(self) -> dict[ast.AST, frozenset[str]]:
        return {}

    def loads(self, scope: ast.AST, name: str, bound: ast.Name | None = None) -> Iterator[ast.Name]:
        """Yields where a name that a scope binds is looked at; where it is `bound` in one place, where that gets."""
        importing = {id(tree) for tree in self._imported[name]} if isinstance(scope, ast.Module) else set()
        for node in self._names[name]:
            if not isinstance(node.ctx, ast.Load) or (bound is not None and not self._reaches(bound, node)):
                continue
            if (found := self.scope_of(node)) is scope or id(found) in importing:
                yield node

    def _reaches(self, bound: ast.Name, load: ast.Name) -> bool:
        """Whether what a name is bound to in one place can be what it holds in another one."""
        if self.function_of(bound) is not self.function_of(load):
            return True
        around = set(self._ancestors(bound))
        loops = [one for one in self._ancestors(load) if isinstance(one, _LOOPS)]
        rebound = [one for one in loops if not isinstance(one, ast.While) and _has_name(one.target, load.id)]
        if any(one not in around and bound not in walk(one.target) for one in rebound):
            return False
        return load.lineno >= bound.lineno or any(one in around for one in loops)

    # Functions, and what they are given.

    def parameters(self, function: ast.AST) -> tuple[str, ...]:
        """Returns the names of a function's parameters."""
        given = getattr(function, "args", None)
        if not isinstance(given, ast.arguments):
            return ()
        rest = [one.arg for one in (given.vararg, given.kwarg) if one is not None]
        return (*(one.arg for one in (*given.posonlyargs, *given.args, *given.kwonlyargs)), *rest)

    def own_functions(self, call: ast.Call) -> list[ast.AST]:
        """Returns the functions of the program that a call may mean; of a class its constructor."""
        name = last_name(call.func)
        made: list[ast.AST] = [
            one for cls in self.classes.get(name, ()) for one in cls.body if _is_named(one, "__init__")
        ]
        if made:
            return made
        if not isinstance(call.func, ast.Attribute):
            return [one for one in self.functions.get(name, ()) if not self._is_method(one)]
        module = self._module_of(call.func.value)
        if module is None:  # a method of an object
            return [one for one in self.functions.get(name, ()) if self._is_method(one)]
        return list(self.functions.get(name, ())) if module in self._modules else []

    def _module_of(self, value: ast.expr) -> str | None:
        """Returns the module that a name stands for, or was imported from; None where it was not imported."""
        while isinstance(value, ast.Attribute):
            value = value.value
        if not isinstance(value, ast.Name):
            return None
        file = [*self._ancestors(value)][-1]
        return self._bound_by_import.get((file, value.id))

    def _is_method(self, function: ast.AST) -> bool:
        return isinstance(self.above.get(function), ast.ClassDef)

    def parameters_for(self, function: ast.AST, call: ast.Call, given: ast.AST) -> tuple[str, ...]:
        """Returns the parameters that what a call gives may come to."""
        names = self.parameters(function)
        if isinstance(given, ast.keyword):
            return (given.arg,) if given.arg in names else names
        if any(isinstance(one, ast.Starred) for one in call.args) or given not in call.args:
            return names
        at = call.args.index(given) + self._implied(function)
        return names[at : at + 1] or names[-1:]

    def given_for(self, function: ast.AST, call: ast.Call, name: str) -> list[ast.expr]:
        """Returns what a call gives for a parameter."""
        args = [one for one in call.args if name in self.parameters_for(function, call, one)]
        return [*args, *(one.value for one in call.keywords if name in self.parameters_for(function, call, one))]

    def _implied(self, function: ast.AST) -> int:
        decorators = getattr(function, "decorator_list", ())
        return int(self._is_method(function) and all(last_name(one) != "staticmethod" for one in decorators))

    def fields_of(self, name: str, call: ast.Call, given: ast.AST) -> list[str]:
        """Returns the fields that a dataclass or the like fills with what its call gives."""
        fields = [
            one.target.id
            for cls in self.classes[name]
            for one in cls.body
            if isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name)
        ]
        if isinstance(given, ast.keyword):
            return [given.arg] if given.arg else fields
        at = call.args.index(given) if given in call.args else len(fields)
        return fields[at : at + 1]

    def calls_of(self, function: ast.AST) -> list[ast.Call]:
        """Returns the calls of a function by its name."""
        name = getattr(function, "name", "")
        named = [*self._names[name], *self.attributes[name]]
        above = [(self.above.get(one), one) for one in named]
        return [call for call, one in above if isinstance(call, ast.Call) and call.func is one]

    def uses_of(self, function: ast.AST) -> tuple[list[ast.AST], bool]:
        """Returns the expressions that have what a function gives back, and whether these are all."""
        name = getattr(function, "name", "")
        decorators = {last_name(one) for one in getattr(function, "decorator_list", ())}
        if not name or name.startswith("__") or decorators - _PLAIN_DECORATORS:
            return [], False
        if decorators & {"property", "cached_property"}:
            return list(self.attributes[name]), True
        is_method = self._is_method(function)
        named: list[ast.AST] = [
            *([] if is_method else self._names[name]),
            *self.attributes[name],
        ]
        uses: list[ast.AST] = []
        for one in named:
            above = self.above.get(one)
            if isinstance(above, ast.Call) and (above.func is one or call_kind(above) is CallKind.POOLS):
                uses.append(above)
            elif not (isinstance(above, ast.keyword) and above.arg == "target"):  # a thread's result is nobody's
                return [], False
        return uses, bool(named)

    # Ways through the statements.

    def ancestors_in_function(self, node: ast.AST) -> Iterator[ast.AST]:
        """Yields what stands around a node in its function; of a comprehension its parts as well."""
        for one in self._ancestors(node):
            if isinstance(one, DEFINITIONS):
                return
            yield one
            yield from getattr(one, "generators", ())

    def passed_over(self, block: ast.stmt, arms: Sequence[ast.stmt], *, exits: bool = False) -> list[ast.stmt]:
        """Returns the statements that arms of a block which leave their loop or function pass over.

        `exits` says that one leaves the program.
        """
        inside = list(own_nodes(arms))
        whole = exits or any(isinstance(one, ast.Return) for one in inside)
        rounds = whole or any(
            isinstance(one, ast.Break | ast.Continue) and self._loop_of(one) is self._loop_of(block) for one in inside
        )
        found: list[ast.stmt] = []
        node: ast.AST = block
        for above in self._ancestors(block):
            if isinstance(above, DEFINITIONS) or not (whole or rounds):
                return [*found, *self._behind(above, node)] if whole or rounds else found
            found += self._behind(above, node)
            rounds = rounds and not isinstance(above, _LOOPS)
            node = above
        return found

    def rounds_after(self, leaving: ast.stmt) -> list[ast.stmt]:
        """Returns what the loops that a `break` or a `return` ends would have run."""
        found: list[ast.stmt] = []
        for above in self._ancestors(leaving):
            if isinstance(above, DEFINITIONS):
                break
            if isinstance(above, _LOOPS):
                found += [*above.body, *above.orelse]
                if isinstance(leaving, ast.Break):
                    break
        return found

    def _loop_of(self, node: ast.AST) -> ast.AST | None:
        return next((one for one in self._ancestors(node) if isinstance(one, (*_LOOPS, *DEFINITIONS))), None)

    @staticmethod
    def _behind(above: ast.AST, node: ast.AST) -> list[ast.stmt]:
        for name in _BLOCKS:
            block = getattr(above, name, None)
            if isinstance(block, list) and node in block:
                return block[block.index(node) + 1 :]
        return []


def _is_named(node: ast.AST, name: str) -> bool:
    return isinstance(node, DEFINITIONS) and node.name == name


def _has_name(target: ast.AST, name: str) -> bool:
    return any(isinstance(one, ast.Name) and one.id == name for one in walk(target))


def is_success(test: ast.expr) -> bool:
    """Whether a test of an exit code asks for success: `not code`, `code == 0`."""
    if isinstance(test, ast.UnaryOp):
        return isinstance(test.op, ast.Not)
    if not isinstance(test, ast.Compare) or not isinstance(test.ops[0], ast.Eq):
        return False
    return any(isinstance(one, ast.Constant) and one.value == 0 for one in test.comparators)


def is_main_test(node: ast.AST) -> bool:
    """Whether it is `if __name__ == "__main__":`."""
    return isinstance(node, ast.If) and "__name__" in ast.unparse(node.test)
