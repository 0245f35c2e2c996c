"""Builds control-flow graphs of Python syntax trees, 3.8 to 3.14. Pure; never raises on a tree that ast made."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from diagnostics.static.program.ast_walk import children
from diagnostics.static.program.cfg import ControlFlowGraph, Edge, EdgeKind, FunctionSyntax, GraphNode, NodeKind

MAX_NODES = 40_000
MAX_DEPTH = 150  # of nested statements and expressions that are followed
_COPIED_FINALLY = 2  # deeper ones are shared by all ways through them
_EXITS = {"sys.exit", "exit", "quit", "SystemExit", "_sys.exit"}
_GONE = {"os._exit", "os.abort", "_exit", "os.kill(os.getpid()"}
_ALL_ERRORS = {"Exception", "BaseException"}
_SUPPRESSING = {"suppress", "ignore_errors", "ignoring", "raises", "assertRaises"}

End = tuple[int, EdgeKind]  # a node whose way on is not known yet
Ends = list[End]
Suppresses = Callable[[ast.expr], bool]


def suppresses_by_name(context: ast.expr) -> bool:
    """Whether a `with` on this expression swallows exceptions, as far as its name says."""
    function = context.func if isinstance(context, ast.Call) else context
    return dotted(function).rpartition(".")[2] in _SUPPRESSING


def dotted(node: ast.AST) -> str:
    """Returns "a.b.c" of a dotted name, "" of anything else."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return ""
    return ".".join([node.id, *reversed(parts)])


def build(syntax: FunctionSyntax, suppresses: Suppresses = suppresses_by_name) -> ControlFlowGraph:
    """Returns the graph of a function's, lambda's or module's own body; functions inside have graphs of their own."""
    return _Builder(syntax, suppresses).build()


@dataclass(slots=True)
class _Leave:
    """Where control goes that leaves a block: each way is a list of ends that wait for their target, or a node."""

    raises: int  # node an exception goes to
    exits: int  # node SystemExit goes to
    returns: Callable[[Ends], None]
    breaks: Callable[[Ends], None] | None = None
    continues: Callable[[Ends], None] | None = None
    finallies: int = 0


@dataclass(slots=True)
class _Builder:
    syntax: FunctionSyntax
    suppresses: Suppresses
    nodes: list[GraphNode] = field(default_factory=list)
    statement: ast.stmt | None = None
    depth: int = 0
    truncated: bool = False
    leave: _Leave = field(init=False)

    def build(self) -> ControlFlowGraph:
        entry = self.add(NodeKind.ENTRY, None)
        returned = self.add(NodeKind.RETURNED, None)
        raised = self.add(NodeKind.RAISED, None)
        exited = self.add(NodeKind.EXITED, None)
        self.gone = self.add(NodeKind.GONE, None)
        self.leave = _Leave(raised, exited, lambda ends: self.join(ends, returned))
        ends: Ends = [(entry, EdgeKind.NEXT)]
        if isinstance(self.syntax, ast.Lambda):
            ends = self.expression(self.syntax.body, ends)
        else:
            ends = self.block(self.syntax.body, ends)
        self.join(ends, returned)
        return ControlFlowGraph(self.syntax, self.nodes, returned, raised, exited, self.gone, self.truncated)

    gone: int = 0

    # Nodes and edges

    def add(
        self, kind: NodeKind, syntax: ast.AST | None, ends: Sequence[End] = (), *, span: ast.AST | _Span | None = None
    ) -> int:
        """Adds a node that `ends` lead to; `span` gives its lines where the syntax has too many or none."""
        place = span if span is not None else syntax
        line = getattr(place, "lineno", 0)
        node = GraphNode(len(self.nodes), kind, syntax, line, getattr(place, "end_lineno", None) or line)
        node.statement = self.statement
        self.nodes.append(node)
        self.join(ends, node.index)
        return node.index

    def join(self, ends: Iterable[End], to: int) -> None:
        for end, kind in ends:
            edge = Edge(kind, to)
            if edge not in self.nodes[end].edges:
                self.nodes[end].edges.append(edge)

    def edge(self, start: int, kind: EdgeKind, to: int) -> None:
        self.join([(start, kind)], to)

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
        node = self.add(NodeKind.STATEMENT, statement, ends, span=_Span(statement.lineno, statement.lineno))
        return [(node, EdgeKind.NEXT)]

    on_asyncfunctiondef = on_functiondef

    def on_classdef(self, statement: ast.ClassDef, ends: Ends) -> Ends:
        for value in (*statement.decorator_list, *statement.bases):
            ends = self.expression(value, ends)
        node = self.add(NodeKind.STATEMENT, statement, ends, span=_Span(statement.lineno, statement.lineno))
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
        span = _Span(statement.lineno, statement.iter.end_lineno or statement.lineno)
        head = self.add(NodeKind.LOOP, statement, ends, span=span)
        self.edge(head, EdgeKind.RAISES, self.leave.raises)
        after = self.in_loop(statement.body, [(head, EdgeKind.ITEM)], head)
        return self.block(statement.orelse, [(head, EdgeKind.EXHAUSTED)]) + after

    on_asyncfor = on_for

    def in_loop(self, body: list[ast.stmt], ends: Ends, head: int) -> Ends:
        """Adds the body of a loop; returns the ends of its breaks."""
        outer, after = self.leave, Ends()
        self.leave = _Leave(
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
                self.leave = _Leave(dispatch, now.exits, now.returns, now.breaks, now.continues, now.finallies)
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
            dispatch = self.add(NodeKind.DISPATCH, statement, span=_Span(statement.lineno, statement.lineno))
            exits = self.add(NodeKind.DISPATCH, statement, span=_Span(statement.lineno, statement.lineno))
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
            self.leave = _Leave(dispatch, exits, now.returns, now.breaks, now.continues, now.finallies)
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

    def through_finally(self, statement: ast.Try, after: Ends) -> _Leave:
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

            return _Leave(head, head, shared, shared if outer.breaks else None, shared if outer.continues else None, 9)
        raised, exited = (self.final_copy(statement, (to, EdgeKind.RAISES)) for to in (outer.raises, outer.exits))

        def copying(way: Callable[[Ends], None]) -> Callable[[Ends], None]:
            def leaves(ends: Ends) -> None:
                now, self.leave = self.leave, outer
                way(self.block(statement.finalbody, ends))
                self.leave = now

            return leaves

        return _Leave(
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

    def test(self, test: ast.expr, ends: Ends) -> tuple[Ends, Ends]:
        """Returns where control is when `test` holds, and when it does not."""
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            yes, no = self.test(test.operand, ends)
            return no, yes
        if isinstance(test, ast.BoolOp) and any(_acts(value) for value in test.values[1:]):
            return self.short_circuit(test, ends)
        ends = self.expression(test, ends)
        node = self.add(NodeKind.TEST, test, ends)
        constant = _constant(test)
        holds: Ends = [(node, EdgeKind.TRUE)] if constant is not False else []
        fails: Ends = [(node, EdgeKind.FALSE)] if constant is not True else []
        return holds, fails

    def short_circuit(self, test: ast.BoolOp, ends: Ends) -> tuple[Ends, Ends]:
        both = isinstance(test.op, ast.And)
        decided: Ends = []
        for value in test.values:
            yes, no = self.test(value, ends)
            decided += no if both else yes
            ends = yes if both else no
        return (ends, decided) if both else (decided, ends)

    def expression(self, value: ast.AST, ends: Ends) -> Ends:
        """Adds the nodes of an expression in the order of evaluation."""
        if self.depth > MAX_DEPTH or len(self.nodes) > MAX_NODES:
            self.truncated = True
            return ends
        if not _acts(value):
            return ends
        self.depth += 1
        ends = self.acting(value, ends)
        self.depth -= 1
        return ends

    def acting(self, value: ast.AST, ends: Ends) -> Ends:
        if isinstance(value, ast.BoolOp) and any(_acts(one) for one in value.values[1:]):
            last = value.values[-1]
            if len(value.values) == 1:
                return self.expression(last, ends)
            head = ast.BoolOp(op=value.op, values=value.values[:-1])
            test = ast.copy_location(head, value) if len(value.values) > 2 else value.values[0]
            yes, no = self.test(test, ends)
            go_on, decided = (yes, no) if isinstance(value.op, ast.And) else (no, yes)
            return self.expression(last, go_on) + decided
        if isinstance(value, ast.IfExp):
            yes, no = self.test(value.test, ends)
            return self.expression(value.body, yes) + self.expression(value.orelse, no)
        if isinstance(value, (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
            return self.comprehension(value, ends)
        for child in children(value):
            ends = self.expression(child, ends)
        if isinstance(value, ast.Call):
            return self.call(value, ends)
        if isinstance(value, (ast.Yield, ast.YieldFrom)):
            node = self.add(NodeKind.YIELD, value, ends)
            self.edge(node, EdgeKind.RAISES, self.leave.raises)
            return [(node, EdgeKind.NEXT)]
        return ends

    def call(self, value: ast.Call, ends: Ends) -> Ends:
        name = dotted(value.func)
        if name in _GONE or name in _EXITS:
            node = self.add(NodeKind.EXIT_CALL, value, ends)
            self.edge(node, EdgeKind.RAISES, self.gone if name in _GONE else self.leave.exits)
            return []
        node = self.add(NodeKind.CALL, value, ends)
        self.edge(node, EdgeKind.RAISES, self.leave.raises)
        return [(node, EdgeKind.NEXT)]

    def comprehension(self, value: ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp, ends: Ends) -> Ends:
        after: Ends | None = None
        again = -1
        for generator in value.generators:
            ends = self.expression(generator.iter, ends)
            head = self.add(NodeKind.LOOP, generator, ends, span=generator.target)
            if after is None:
                after = [(head, EdgeKind.EXHAUSTED)]
            else:
                self.edge(head, EdgeKind.EXHAUSTED, again)
            again, ends = head, [(head, EdgeKind.ITEM)]
            for condition in generator.ifs:
                ends, no = self.test(condition, ends)
                self.join(no, head)
        parts = (value.key, value.value) if isinstance(value, ast.DictComp) else (value.elt,)
        for part in parts:
            ends = self.expression(part, ends)
        self.join(ends, again)
        return after or []


@dataclass(frozen=True, slots=True)
class _Span:
    """Lines without syntax."""

    lineno: int
    end_lineno: int


def _head(handler: ast.ExceptHandler) -> _Span:
    end = handler.type.end_lineno if handler.type is not None else None
    return _Span(handler.lineno, end or handler.lineno)


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
    return any(isinstance(node, (ast.Subscript, ast.BinOp, ast.Await)) for node in _own(statement))


def _own(node: ast.AST) -> Iterable[ast.AST]:
    """Yields a node and what is below it, but for the bodies of lambdas."""
    waiting = [node]
    while waiting:
        one = waiting.pop()
        yield one
        if not isinstance(one, ast.Lambda):
            waiting += children(one)


_ACTS = (ast.Call, ast.Yield, ast.YieldFrom, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def _acts(value: ast.AST) -> bool:
    """Whether an expression calls anything."""
    return any(isinstance(node, _ACTS) for node in _own(value))


def _constant(test: ast.expr) -> bool | None:
    """Returns what a constant test is, None for any other."""
    if isinstance(test, ast.Constant):
        return bool(test.value)
    return None
