"""Where a run is: its memory, its events, and what is around the statement that runs. Pure."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from diagnostics.static.execution.events import Entered, Event, Execution, Guard, OpenLoop, TriedBlock
from diagnostics.static.execution.memory import Journal
from diagnostics.static.execution.values import NO_KEYWORDS, Items, Mapped, Scope, Value
from diagnostics.static.program.functions import Function
from diagnostics.static.program.project import Project

MOST_STATEMENTS = 12_000
MOST_EVENTS = 4_000
MOST_DEPTH = 12  # functions in functions


class TooLargeError(Exception):
    """The run is given up."""


@dataclass(slots=True)
class RunState:
    """One run."""

    project: Project
    execution: Execution
    memory: Journal = field(default_factory=Journal)
    scopes: dict[str, Scope] = field(default_factory=dict)  # of files
    loops: tuple[OpenLoop, ...] = ()
    guards: tuple[Guard, ...] = ()
    contexts: tuple[Value, ...] = ()
    frames: tuple[Entered, ...] = ()
    tries: tuple[TriedBlock, ...] = ()
    statements: int = 0
    entered: set[int] = field(default_factory=set)  # ids of the syntax of functions and classes

    def step(self) -> None:
        """Counts a statement. Raises TooLargeError."""
        self.statements += 1
        if self.statements > MOST_STATEMENTS or len(self.execution.events) > MOST_EVENTS:
            raise TooLargeError

    def grown(self, value: Value) -> Value:
        """Returns a list or dict; one that was empty before the loops that run may have more in their later rounds."""
        if isinstance(value, (Items, Mapped)) and 0 <= value.depth < self.memory.depth:
            empty = not value.items if isinstance(value, Items) else not value.fields
            value.open = value.open or empty
        return value

    def happened(
        self,
        name: str,
        node: ast.AST,
        function: Function,
        *,
        owner: Value | None = None,
        args: Sequence[Value] = (),
        keywords: Mapping[str, Value] | None = None,
        value: Value | None = None,
    ) -> None:
        """Notes an event where the run is."""
        self.execution.events.append(
            Event(
                name,
                node,
                function,
                owner,
                tuple(args),
                keywords or NO_KEYWORDS,
                value,
                self.loops,
                self.guards,
                self.contexts,
                self.frames,
                self.tries,
            )
        )
