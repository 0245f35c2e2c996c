"""The nodes that evaluating an expression adds to a control-flow graph, in the order of evaluation. Pure."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from diagnostics.static.program import exit_calls
from diagnostics.static.program.ast_walk import children
from diagnostics.static.program.cfg import Edge, EdgeKind, GraphNode, NodeKind

MAX_NODES = 40_000
MAX_DEPTH = 150  # of nested statements and expressions that are followed
End = tuple[int, EdgeKind]  # a node whose way on is not known yet
Ends = list[End]


def dotted(node: ast.AST) -> str:
    """Returns "a.b.c" of a dotted name, "" of anything else."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return ""
    return ".".join([node.id, *reversed(parts)])


@dataclass(slots=True)
class Leave:
    """Where control goes that leaves a block: each way is a list of ends that wait for their target, or a node."""

    raises: int  # node an exception goes to
    exits: int  # node SystemExit goes to
    returns: Callable[[Ends], None]
    breaks: Callable[[Ends], None] | None = None
    continues: Callable[[Ends], None] | None = None
    finallies: int = 0


@dataclass(frozen=True, slots=True)
class Span:
    """Lines without syntax."""

    lineno: int
    end_lineno: int


@dataclass(slots=True, kw_only=True)
class ExpressionBuilder:
    """Nodes and edges so far, and where control goes from here: what the builder of statements rests on."""

    nodes: list[GraphNode] = field(default_factory=list)
    statement: ast.stmt | None = None
    depth: int = 0
    truncated: bool = False
    leave: Leave = field(init=False)
    gone: int = 0

    def add(
        self, kind: NodeKind, syntax: ast.AST | None, ends: Sequence[End] = (), *, span: ast.AST | Span | None = None
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
        """Leads `ends` to a node."""
        for end, kind in ends:
            edge = Edge(kind, to)
            if edge not in self.nodes[end].edges:
                self.nodes[end].edges.append(edge)

    def edge(self, start: int, kind: EdgeKind, to: int) -> None:
        """Adds one edge."""
        self.join([(start, kind)], to)

    def test(self, test: ast.expr, ends: Ends) -> tuple[Ends, Ends]:
        """Returns where control is when `test` holds, and when it does not."""
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            yes, no = self.test(test.operand, ends)
            return no, yes
        if isinstance(test, ast.BoolOp) and any(acts(value) for value in test.values[1:]):
            return self.short_circuit(test, ends)
        ends = self.expression(test, ends)
        node = self.add(NodeKind.TEST, test, ends)
        known = constant(test)
        holds: Ends = [(node, EdgeKind.TRUE)] if known is not False else []
        fails: Ends = [(node, EdgeKind.FALSE)] if known is not True else []
        return holds, fails

    def short_circuit(self, test: ast.BoolOp, ends: Ends) -> tuple[Ends, Ends]:
        """As `test`, for one whose later operands act."""
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
        if not acts(value):
            return ends
        self.depth += 1
        ends = self.acting(value, ends)
        self.depth -= 1
        return ends

    def acting(self, value: ast.AST, ends: Ends) -> Ends:
        """Adds an expression that has calls in it."""
        if isinstance(value, ast.BoolOp) and any(acts(one) for one in value.values[1:]):
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
        """Adds a call, which may raise or end the process."""
        name = dotted(value.func)
        if name in exit_calls.LEAVING or name == exit_calls.SYSTEM_EXIT:
            node = self.add(NodeKind.EXIT_CALL, value, ends)
            self.edge(node, EdgeKind.RAISES, self.gone if name in exit_calls.AT_ONCE else self.leave.exits)
            return []
        node = self.add(NodeKind.CALL, value, ends)
        self.edge(node, EdgeKind.RAISES, self.leave.raises)
        return [(node, EdgeKind.NEXT)]

    def comprehension(self, value: ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp, ends: Ends) -> Ends:
        """Adds the loops of a comprehension."""
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


_ACTS = (ast.Call, ast.Yield, ast.YieldFrom, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def acts(value: ast.AST) -> bool:
    """Whether an expression calls anything."""
    return any(isinstance(node, _ACTS) for node in own(value))


def constant(test: ast.expr) -> bool | None:
    """Returns what a constant test is, None for any other."""
    if isinstance(test, ast.Constant):
        return bool(test.value)
    return None


def own(node: ast.AST) -> Iterable[ast.AST]:
    """Yields a node and what is below it, but for the bodies of lambdas."""
    waiting = [node]
    while waiting:
        one = waiting.pop()
        yield one
        if not isinstance(one, ast.Lambda):
            waiting += children(one)
