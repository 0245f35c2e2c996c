"""The control-flow graph of one function, module or lambda: plain nodes and edges, made by `flow_building.build`.

A node is one thing Python does: a call, a branch on a test, the next turn of a loop, a handler, a plain statement.
Each call is a node of its own, in the order of evaluation, so that what `and`, `or`, `a if b else c` and comprehensions
guard is seen. Where a call can raise, an edge leads to the handler around it, or to the node RAISED.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from enum import StrEnum

FunctionSyntax = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.Module


class NodeKind(StrEnum):
    """What a node does."""

    ENTRY = "entry"
    RETURNED = "returned"  # the function is left by return or at its end
    RAISED = "raised"  # left by an exception
    EXITED = "exited"  # left by SystemExit
    GONE = "gone"  # the process ended at once: os._exit
    STATEMENT = "statement"
    CALL = "call"
    TEST = "test"  # a branch: if, while, conditional expression, and, or, case, assert
    LOOP = "loop"  # the next item of a for loop or comprehension, or none
    DISPATCH = "dispatch"  # an exception looks for its handler
    HANDLER = "handler"  # it was caught: except, or a `with` that suppresses
    FINALLY = "finally"
    WITH = "with"  # a context was entered
    YIELD = "yield"
    RETURN = "return"
    RAISE = "raise"
    BREAK = "break"
    CONTINUE = "continue"
    EXIT_CALL = "exit-call"  # sys.exit and the like


class EdgeKind(StrEnum):
    """Why control goes from one node to another."""

    NEXT = "next"
    TRUE = "true"
    FALSE = "false"
    ITEM = "item"  # a loop goes round once more
    EXHAUSTED = "exhausted"
    RAISES = "raises"
    CATCHES = "catches"


@dataclass(frozen=True, slots=True)
class Edge:
    """One way on."""

    kind: EdgeKind
    to: int


@dataclass(slots=True)
class GraphNode:
    """One node. `syntax` is what it stands for: the Call, the test's expression, the loop, the handler."""

    index: int
    kind: NodeKind
    syntax: ast.AST | None
    line: int  # first and last line of the syntax; 0 where it has none
    end_line: int
    edges: list[Edge] = field(default_factory=list)
    statement: ast.stmt | None = None  # the one it is a part of


@dataclass(slots=True)
class ControlFlowGraph:
    """The graph of one function; `nodes[0]` is its entry."""

    syntax: FunctionSyntax
    nodes: list[GraphNode]
    returned: int
    raised: int
    exited: int
    gone: int
    truncated: bool = False  # it had more than MAX_NODES; the rest is missing

    @property
    def is_generator(self) -> bool:
        """Whether calling it only makes a generator."""
        return any(node.kind is NodeKind.YIELD for node in self.nodes)

    def at_line(self, line: int) -> list[GraphNode]:
        """Returns the nodes that hold `line` most closely: calls before other nodes."""
        holding = [node for node in self.nodes if node.line <= line <= node.end_line]
        if not holding:
            return []
        exact = [node for node in holding if node.line == line] or holding
        least = min(node.end_line - node.line for node in exact)
        near = [node for node in exact if node.end_line - node.line == least]
        calls = [node for node in exact if node.kind in (NodeKind.CALL, NodeKind.EXIT_CALL)]
        return calls or near
