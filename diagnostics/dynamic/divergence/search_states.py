"""Where a search through a program stands: a node of a function, and how it was come to. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

from diagnostics.core.frame import Frame
from diagnostics.dynamic.divergence.stack_alignment import Stack, nodes_at
from diagnostics.static.program.call_graph import Function


@dataclass(eq=False)
class CallString:
    """One activation of a function: from which node of which activation it was called."""

    function: Function
    parent: CallString | None
    at: int  # node of the parent's graph
    how: str  # "call", "box": by library code, "items": a generator that a loop reads
    depth: int
    # How many of the targets' levels it agrees with, by target; absent where it does not
    agrees: dict[int, int] = field(default_factory=dict)


State = tuple[CallString, int]


@dataclass(frozen=True)
class SearchTarget:
    """What is looked for: a stack and the operation at its end, or, without levels, the end of the program."""

    stack: Stack
    op: str = ""

    @property
    def is_end(self) -> bool:
        """Whether it is the end of the program."""
        return not self.stack.levels


def shown_calls(stacks: Iterable[Stack]) -> dict[tuple[int, int], list[tuple[Function, bool]]]:
    """Returns what the stacks show that a node calls: [(function, by library code)] by (function, node)."""
    found: dict[tuple[int, int], list[tuple[Function, bool]]] = defaultdict(list)
    for stack in stacks:
        for outer, inner in zip(stack.levels, stack.levels[1:], strict=False):
            for index in nodes_at(outer, inner.function):
                one = (inner.function, inner.boxed)
                if one not in found[id(outer.function), index]:
                    found[id(outer.function), index].append(one)
    return found


def frame_of(state: State) -> Frame:
    """Returns the line a state stands at."""
    context, index = state
    return context.function.frame(context.function.graph.nodes[index].line)
