"""What one function calls, in the order in which Python evaluates it, with the branches each call stands in. Pure."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass, field

from diagnostics.static.program import ast_walk, exit_calls
from diagnostics.static.program.cfg_expressions import dotted
from diagnostics.static.program.functions import last_name

_CONSUMERS = {"list", "tuple", "set", "sum", "any", "all", "max", "min", "sorted", "dict", "join", "frozenset"}
_SETTINGS = {"args", "cfg", "config", "opt", "opts", "hparams", "FLAGS"}  # one object for the whole run
MAX_PLANNED = 4000


@dataclass(frozen=True, slots=True)
class BranchArm:
    """One way out of a branch. Arms with one `test` and different `taken` exclude each other.

    `shared`: the test reads only things that hold for the whole run, such as `args.distributed`, so that arms of other
    functions with the same test go the same way.
    """

    test: str
    taken: str
    shared: bool
    syntax: ast.AST = field(compare=False)


Arms = tuple[BranchArm, ...]


@dataclass(frozen=True, slots=True)
class EvaluationStep:
    """One call or import of a function. `looped`: it is iterated over, so that a generator runs."""

    syntax: ast.Call | ast.Import | ast.ImportFrom
    arms: Arms
    looped: bool = False
    statement: ast.stmt | None = None


def planned(syntax: ast.AST, *, as_script: bool) -> tuple[EvaluationStep, ...]:
    """Returns the calls of a function's, lambda's or module's own body in the order of evaluation."""
    walk = _Walk(as_script)
    if isinstance(syntax, ast.Lambda):
        walk.value(syntax.body, ())
    else:
        walk.block(getattr(syntax, "body", ()), ())
    return tuple(walk.found[:MAX_PLANNED])


def branch(test: ast.expr) -> tuple[str, bool, bool]:
    """Returns (what is asked, whether it is asked the other way round, whether its answer holds for the whole run)."""
    turned = False
    while isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        test, turned = test.operand, not turned
    text = ast.unparse(test)
    if _may_change(test):  # asked twice, it may answer differently
        return f"#{id(test)}", turned, False
    if isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], (ast.NotEq, ast.IsNot)):
        test = ast.Compare(test.left, [ast.Eq() if isinstance(test.ops[0], ast.NotEq) else ast.Is()], test.comparators)
        text, turned = ast.unparse(test), not turned
    return text, turned, _is_setting(test)


def _may_change(test: ast.expr) -> bool:
    called = [last_name(one.func) for one in ast_walk.walk(test) if isinstance(one, ast.Call)]
    return any(name not in ("get", "getenv", "int", "bool", "str", "len", "getattr", "hasattr") for name in called)


def _is_setting(test: ast.expr) -> bool:
    attributes = [one for one in ast_walk.walk(test) if isinstance(one, (ast.Attribute, ast.Subscript))]
    names = [one.id for one in ast_walk.walk(test) if isinstance(one, ast.Name)]
    return bool(attributes) and set(names) <= _SETTINGS


class _Walk:
    def __init__(self, as_script: bool) -> None:
        self.found: list[EvaluationStep] = []
        self._as_script = as_script
        self._statement: ast.stmt | None = None

    def block(self, statements: Iterable[ast.stmt], arms: Arms | None) -> Arms | None:
        """Walks statements; returns the arms of what comes after them, None where nothing does."""
        for statement in statements:
            if arms is None or len(self.found) > MAX_PLANNED:
                break
            self._statement = statement
            arms = self._one(statement, arms)
        return arms

    def _one(self, node: ast.stmt, arms: Arms) -> Arms | None:
        match node:
            case ast.If():
                return self._if(node, arms)
            case ast.For() | ast.AsyncFor():
                self.value(node.iter, arms, looped=True)
                self.block(node.body, arms)
                self.block(node.orelse, arms)
                return arms
            case ast.While():
                self.value(node.test, arms)
                self.block(node.body, arms)
                self.block(node.orelse, arms)
                return arms
            case ast.Try():
                return self._try(node, arms)
            case ast.With() | ast.AsyncWith():
                for item in node.items:
                    self.value(item.context_expr, arms, looped=True)
                return self.block(node.body, arms)
            case ast.Match():
                self.value(node.subject, arms)
                for number, one in enumerate(node.cases):
                    self.block(one.body, (*arms, BranchArm(f"#{id(node)}", str(number), False, node)))
                return arms
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                for value in (*node.decorator_list, *node.args.defaults):
                    self.value(value, arms)
                return arms
            case ast.ClassDef():
                for value in (*node.decorator_list, *node.bases):
                    self.value(value, arms)
                return self.block(node.body, arms) or arms
            case ast.Import() | ast.ImportFrom():
                self.found.append(EvaluationStep(node, arms, statement=node))
                return arms
            case ast.Return() | ast.Raise():
                self._parts(node, arms)
                return None
            case ast.Continue() | ast.Break():
                return None
            case ast.Assign(targets=targets, value=value):
                self.value(value, arms)
                for target in targets:
                    self.value(target, arms)
                return arms
        self._parts(node, arms)
        return None if isinstance(node, ast.Expr) and _leaves(node.value) else arms

    def _if(self, node: ast.If, arms: Arms) -> Arms | None:
        if "__name__" in ast.unparse(node.test) and "__main__" in ast.unparse(node.test):
            return self.block(node.body if self._as_script else node.orelse, arms) or arms
        self.value(node.test, arms)
        text, turned, shared = branch(node.test)
        yes = BranchArm(text, "no" if turned else "yes", shared, node)
        no = BranchArm(text, "yes" if turned else "no", shared, node)
        after_yes = self.block(node.body, (*arms, yes))
        after_no = self.block(node.orelse, (*arms, no))
        if after_yes is None:
            return after_no
        return after_yes if after_no is None else arms

    def _try(self, node: ast.Try, arms: Arms) -> Arms | None:
        after = self.block(node.body, arms)
        after = self.block(node.orelse, after) if after is not None else None
        caught = [
            self.block(one.body, (*arms, BranchArm(f"#{id(node)}", str(number), False, one)))
            for number, one in enumerate(node.handlers)
        ]
        ends = self.block(node.finalbody, arms)
        if ends is None and node.finalbody:
            return None
        if after is not None:
            return after
        return arms if any(one is not None for one in caught) else None

    def value(self, node: ast.AST, arms: Arms, *, looped: bool = False) -> None:
        """Walks an expression in the order of evaluation."""
        match node:
            case ast.Lambda():
                return
            case ast.BoolOp(values=values):
                self.value(values[0], arms)
                for number, one in enumerate(values[1:]):
                    before = values[number]
                    text, turned, shared = branch(before)
                    arms = (
                        *arms,
                        BranchArm(text, "yes" if isinstance(node.op, ast.And) != turned else "no", shared, before),
                    )
                    self.value(one, arms)
            case ast.IfExp(test=test, body=body, orelse=orelse):
                self.value(test, arms)
                text, turned, shared = branch(test)
                self.value(body, (*arms, BranchArm(text, "no" if turned else "yes", shared, node)))
                self.value(orelse, (*arms, BranchArm(text, "yes" if turned else "no", shared, node)))
            case ast.GeneratorExp(generators=generators):
                self.value(generators[0].iter, arms, looped=True)
                if looped:
                    self._comprehension(node, arms)
            case ast.ListComp() | ast.SetComp() | ast.DictComp():
                self.value(node.generators[0].iter, arms, looped=True)
                self._comprehension(node, arms)
            case ast.Call():
                self.value(node.func, arms)
                consumes = last_name(node.func) in _CONSUMERS or looped
                for argument in (*node.args, *(one.value for one in node.keywords)):
                    self.value(argument, arms, looped=consumes)
                self.found.append(EvaluationStep(node, arms, looped, self._statement))
            case ast.YieldFrom(value=inner):
                self.value(inner, arms, looped=True)
            case _:
                self._parts(node, arms)

    def _comprehension(self, node: ast.AST, arms: Arms) -> None:
        for number, one in enumerate(getattr(node, "generators", ())):
            for value in ([one.iter] if number else []) + one.ifs:
                self.value(value, arms, looped=value is one.iter)
        for value in (getattr(node, part, None) for part in ("key", "value", "elt")):
            if value is not None:
                self.value(value, arms)

    def _parts(self, node: ast.AST, arms: Arms) -> None:
        for child in ast_walk.children(node):
            if isinstance(child, (ast.expr, ast.keyword, ast.Slice)):
                self.value(child, arms)


def _leaves(value: ast.expr) -> bool:
    return isinstance(value, ast.Call) and dotted(value.func) in exit_calls.LEAVING
