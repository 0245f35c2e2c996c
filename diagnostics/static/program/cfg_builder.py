"""Builds control-flow graphs of Python syntax trees, 3.8 to 3.14. Pure; never raises on a tree that ast made."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from diagnostics.static.program.ast_walk import children
from diagnostics.static.program.cfg import ControlFlowGraph, EdgeKind, FunctionSyntax, NodeKind
from diagnostics.static.program.cfg_expressions import (
    MAX_DEPTH,
    MAX_NODES,
    Ends,
    ExpressionBuilder,
    Leave,
    Span,
    dotted,
    own,
)

_COPIED_FINALLY = 2  # deeper ones are shared by all ways through them
_ALL_ERRORS = {"Exception", "BaseException"}
_SUPPRESSING = {"suppress", "ignore_errors", "ignoring", "raises", "assertRaises"}

Suppresses = Callable[[ast.expr], bool]


def suppresses_by_name(context: ast.expr) -> bool:
    """Whether a `with` on this expression swallows exceptions, as far as its name says."""
    function = context.func if isinstance(context, ast.Call) else context
    return dotted(function).rpartition(".")[2] in _SUPPRESSING


def build(syntax: FunctionSyntax, suppresses: Suppresses = suppresses_by_name) -> ControlFlowGraph:
    """Returns the graph of a function's, lambda's or module's own body; functions inside have graphs of their own."""
    return _Builder(syntax=syntax, suppresses=suppresses).build()


@dataclass(slots=True, kw_only=True)
class _Builder(ExpressionBuilder):
    syntax: FunctionSyntax
    suppresses: Suppresses

    def build(self) -> ControlFlowGraph:
        entry = self.add(NodeKind.ENTRY, None)
        returned = self.add(NodeKind.RETURNED, None)
        raised = self.add(NodeKind.RAISED, None)
        exited = self.add(NodeKind.EXITED, None)
        self.gone = self.add(NodeKind.GONE, None)
        self.leave = Leave(raised, exited, lambda ends: self.join(ends, returned))
        ends: Ends = [(entry, EdgeKind.NEXT)]
        if isinstance(self.syntax, ast.Lambda):
            ends = self.expression(self.syntax.body, ends)
        else:
            ends = self.block(self.syntax.body, ends)
        self.join(ends, returned)
        return ControlFlowGraph(self.syntax, self.nodes, returned, raised, exited, self.gone, self.truncated)

    # Statements

    def block(self, statements: Sequence[ast.stmt], ends: Ends) -> Ends:
        for statement in statements:
            if len(self.nodes) > MAX_NODES or self.depth > MAX_DEPTH:
                self.truncated = True
                return ends
            outer, self.statement = self.statement, statement
            self.depth += 1
            ends = self.one(statement, ends)
            self.depth -= 1
            self.statement = outer
        return ends

    def one(self, statement: ast.stmt, ends: Ends) -> Ends:
        method = getattr(self, f"on_{type(statement).__name__.lower()}", None)
        if method is not None:
            made: Ends = method(statement, ends)
            return made
        for value in _values(statement):
            ends = self.expression(value, ends)
        node = self.add(NodeKind.STATEMENT, statement, ends)
        if _may_raise(statement):
            self.edge(node, EdgeKind.RAISES, self.leave.raises)
        return [(node, EdgeKind.NEXT)]

    def on_functiondef(self, statement: ast.FunctionDef | ast.AsyncFunctionDef, ends: Ends) -> Ends:
        for value in (*statement.decorator_list, *statement.args.defaults):
            ends = self.expression(value, ends)
        node = self.add(NodeKind.STATEMENT, statement, ends, span=Span(statement.lineno, statement.lineno))
        return [(node, EdgeKind.NEXT)]

    on_asyncfunctiondef = on_functiondef

    def on_classdef(self, statement: ast.ClassDef, ends: Ends) -> Ends:
        for value in (*statement.decorator_list, *statement.bases):
            ends = self.expression(value, ends)
        node = self.add(NodeKind.STATEMENT, statement, ends, span=Span(statement.lineno, statement.lineno))
        return self.block(statement.body, [(node, EdgeKind.NEXT)])

    def on_if(self, statement: ast.If, ends: Ends) -> Ends:
        yes, no = self.test(statement.test, ends)
        return self.block(statement.body, yes) + self.block(statement.orelse, no)

    def on_assert(self, statement: ast.Assert, ends: Ends) -> Ends:
        yes, no = self.test(statement.test, ends)
        node = self.add(NodeKind.RAISE, statement, no)
        self.edge(node, EdgeKind.RAISES, self.leave.raises)
        return yes

    def on_while(self, statement: ast.While, ends: Ends) -> Ends:
        before = len(self.nodes)
        yes, no = self.test(statement.test, ends)
        head = before if len(self.nodes) > before else self.add(NodeKind.STATEMENT, statement.test)
        after = self.in_loop(statement.body, yes, head)
        return self.block(statement.orelse, no) + after

    def on_for(self, statement: ast.For | ast.AsyncFor, ends: Ends) -> Ends:
        ends = self.expression(statement.iter, ends)
        span = Span(statement.lineno, statement.iter.end_lineno or statement.lineno)
        head = self.add(NodeKind.LOOP, statement, ends, span=span)
        self.edge(head, EdgeKind.RAISES, self.leave.raises)
        after = self.in_loop(statement.body, [(head, EdgeKind.ITEM)], head)
        return self.block(statement.orelse, [(head, EdgeKind.EXHAUSTED)]) + after

    on_asyncfor = on_for

    def in_loop(self, body: list[ast.stmt], ends: Ends, head: int) -> Ends:
        """Adds the body of a loop; returns the ends of its breaks."""
        outer, after = self.leave, Ends()
        self.leave = Leave(
            outer.raises, outer.exits, outer.returns, after.extend, lambda e: self.join(e, head), outer.finallies
        )
        self.join(self.block(body, ends), head)
        self.leave = outer
        return after

    def on_break(self, statement: ast.Break, ends: Ends) -> Ends:
        node = self.add(NodeKind.BREAK, statement, ends)
        (self.leave.breaks or self.leave.returns)([(node, EdgeKind.NEXT)])
        return []

    def on_continue(self, statement: ast.Continue, ends: Ends) -> Ends:
        node = self.add(NodeKind.CONTINUE, statement, ends)
        (self.leave.continues or self.leave.returns)([(node, EdgeKind.NEXT)])
        return []

    def on_return(self, statement: ast.Return, ends: Ends) -> Ends:
        if statement.value is not None:
            ends = self.expression(statement.value, ends)
        node = self.add(NodeKind.RETURN, statement, ends)
        self.leave.returns([(node, EdgeKind.NEXT)])
        return []

    def on_raise(self, statement: ast.Raise, ends: Ends) -> Ends:
        raised = statement.exc
        name = dotted(raised.func if isinstance(raised, ast.Call) else raised) if raised is not None else ""
        for value in (one for one in (raised, statement.cause) if one is not None and name != "SystemExit"):
            ends = self.expression(value, ends)
        exits = name == "SystemExit"
        node = self.add(NodeKind.EXIT_CALL if exits else NodeKind.RAISE, statement, ends)
        self.edge(node, EdgeKind.RAISES, self.leave.exits if exits else self.leave.raises)
        return []

    def on_with(self, statement: ast.With | ast.AsyncWith, ends: Ends) -> Ends:
        outer = self.leave
        swallowed: Ends = []
        for item in statement.items:
            ends = self.expression(item.context_expr, ends)
            entered = self.add(NodeKind.WITH, item.context_expr, ends)
            ends = [(entered, EdgeKind.NEXT)]
            if self.suppresses(item.context_expr):
                dispatch = self.add(NodeKind.DISPATCH, statement, span=item.context_expr)
                caught = self.add(NodeKind.HANDLER, item.context_expr)
                self.edge(dispatch, EdgeKind.CATCHES, caught)
                self.edge(dispatch, EdgeKind.RAISES, self.leave.raises)
                swallowed.append((caught, EdgeKind.NEXT))
                now = self.leave
                self.leave = Leave(dispatch, now.exits, now.returns, now.breaks, now.continues, now.finallies)
        ends = self.block(statement.body, ends)
        self.leave = outer
        return ends + swallowed

    on_asyncwith = on_with

    def on_match(self, statement: ast.Match, ends: Ends) -> Ends:
        ends = self.expression(statement.subject, ends)
        after: Ends = []
        for case in statement.cases:
            node = self.add(NodeKind.TEST, case.guard or statement.subject, ends, span=case.pattern)
            after += self.block(case.body, [(node, EdgeKind.TRUE)])
            catches_all = isinstance(case.pattern, ast.MatchAs) and case.pattern.pattern is None and case.guard is None
            ends = [] if catches_all else [(node, EdgeKind.FALSE)]
        return after + ends

    # try

    def on_try(self, statement: ast.Try, ends: Ends) -> Ends:
        outer = self.leave
        after: Ends = []
        if statement.finalbody:
            self.leave = self.through_finally(statement, after)
        around = self.leave
        if statement.handlers:
            dispatch = self.add(NodeKind.DISPATCH, statement, span=Span(statement.lineno, statement.lineno))
            exits = self.add(NodeKind.DISPATCH, statement, span=Span(statement.lineno, statement.lineno))
            handlers = [(one, self.add(NodeKind.HANDLER, one, span=_head(one))) for one in statement.handlers]
            for handler, node in handlers:
                self.edge(dispatch, EdgeKind.CATCHES, node)
                if _catches(handler, {"BaseException", "SystemExit"}):
                    self.edge(exits, EdgeKind.CATCHES, node)
            if not any(_catches(handler, _ALL_ERRORS) for handler, _ in handlers):
                self.edge(dispatch, EdgeKind.RAISES, around.raises)
            if not any(_catches(handler, {"BaseException"}) for handler, _ in handlers):
                self.edge(exits, EdgeKind.RAISES, around.exits)
            now = around
            self.leave = Leave(dispatch, exits, now.returns, now.breaks, now.continues, now.finallies)
        done = self.block(statement.body, ends)
        self.leave = around
        done = self.block(statement.orelse, done)
        for handler, node in handlers if statement.handlers else ():
            done += self.block(handler.body, [(node, EdgeKind.NEXT)])
        self.leave = outer
        if statement.finalbody:
            done = self.block(statement.finalbody, done) if done else []
        return done + after

    on_trystar = on_try

    def through_finally(self, statement: ast.Try, after: Ends) -> Leave:
        """Returns ways out that run the `finally` first: a copy of it for each, or one for all where deeply nested."""
        outer = self.leave
        if outer.finallies >= _COPIED_FINALLY:
            head = self.add(NodeKind.FINALLY, statement, span=statement.finalbody[0])
            tail = self.block(statement.finalbody, [(head, EdgeKind.NEXT)])
            self.join([(end, EdgeKind.RAISES) for end, _ in tail], outer.raises)
            after += tail

            def shared(ends: Ends) -> None:
                self.join(ends, head)
                outer.returns(tail)

            return Leave(head, head, shared, shared if outer.breaks else None, shared if outer.continues else None, 9)
        raised, exited = (self.final_copy(statement, (to, EdgeKind.RAISES)) for to in (outer.raises, outer.exits))

        def copying(way: Callable[[Ends], None]) -> Callable[[Ends], None]:
            def leaves(ends: Ends) -> None:
                now, self.leave = self.leave, outer
                way(self.block(statement.finalbody, ends))
                self.leave = now

            return leaves

        return Leave(
            raised,
            exited,
            copying(outer.returns),
            copying(outer.breaks) if outer.breaks else None,
            copying(outer.continues) if outer.continues else None,
            outer.finallies + 1,
        )

    def final_copy(self, statement: ast.Try, then: tuple[int, EdgeKind]) -> int:
        head = self.add(NodeKind.FINALLY, statement, span=statement.finalbody[0])
        ends = self.block(statement.finalbody, [(head, EdgeKind.NEXT)])
        self.join([(end, then[1]) for end, _ in ends], then[0])
        return head

    # Expressions


def _head(handler: ast.ExceptHandler) -> Span:
    end = handler.type.end_lineno if handler.type is not None else None
    return Span(handler.lineno, end or handler.lineno)


def _catches(handler: ast.ExceptHandler, names: set[str]) -> bool:
    if handler.type is None:
        return True
    kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return any(dotted(kind).rpartition(".")[2] in names for kind in kinds)


def _values(statement: ast.stmt) -> list[ast.expr]:
    """Returns the expressions of a simple statement in the order of evaluation: the value before the targets."""
    parts = [child for child in children(statement) if isinstance(child, ast.expr)]
    value = getattr(statement, "value", None)
    return [value, *(part for part in parts if part is not value)] if isinstance(value, ast.expr) else parts


def _may_raise(statement: ast.stmt) -> bool:
    if isinstance(statement, (ast.Import, ast.ImportFrom)):
        return True
    return any(isinstance(node, (ast.Subscript, ast.BinOp, ast.Await)) for node in own(statement))
