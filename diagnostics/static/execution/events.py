"""What happened while a program was run on values that are not known. Pure.

Nothing changes what is noted here; it is not frozen, since making a frozen object takes three times as long and a
project makes hundreds of thousands.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from diagnostics.static.execution.values import Made, Value
from diagnostics.static.program.functions import Function


@dataclass(slots=True, eq=False)
class OpenLoop:
    """A loop that is being gone round: its statement, and what is looped over (None: `while`)."""

    node: ast.AST
    over: Value | None
    function: Function


@dataclass(slots=True, eq=False)
class Guard:
    """A test that nothing decides, and which way was taken; `handler` of an exception that may come."""

    node: ast.AST
    test: Value
    taken: bool
    function: Function
    handler: bool = False


@dataclass(slots=True, eq=False)
class Entered:
    """A function of the project that was entered, and the call that did it."""

    function: Function
    call: ast.AST
    caller: Function


@dataclass(slots=True, eq=False)
class TriedBlock:
    """A `try` whose body runs, and the loops around it."""

    node: ast.Try
    function: Function
    loops: tuple[OpenLoop, ...]


@dataclass(slots=True, eq=False)
class Event:
    """A call that left the project, an attribute set on one of its objects, the begin of a loop, or a leap out of one.

    `name` is that of a `Made`; "iterate" where a loop begins over `owner`; "set NAME" of an attribute; "break",
    "continue", "return" and "raise" where a test that nothing decides stands before.
    """

    name: str
    node: ast.AST
    function: Function
    owner: Value | None = None
    args: Sequence[Value] = ()
    keywords: Mapping[str, Value] = field(default_factory=dict)
    value: Value | None = None
    loops: tuple[OpenLoop, ...] = ()
    guards: tuple[Guard, ...] = ()
    contexts: tuple[Value, ...] = ()
    frames: tuple[Entered, ...] = ()
    tries: tuple[TriedBlock, ...] = ()

    def argument(self, position: int, name: str) -> Value | None:
        """Returns what was given at a position or by a name."""
        if name in self.keywords:
            return self.keywords[name]
        return self.args[position] if position < len(self.args) else None

    @property
    def without_gradients(self) -> bool:
        """Whether it is in `torch.no_grad()` or `torch.inference_mode()`."""
        return any(isinstance(one, Made) and one.name in NO_GRAD for one in self.contexts)

    @property
    def is_handled(self) -> bool:
        """Whether it is in the handler of an exception."""
        return any(one.handler for one in self.guards)


NO_GRAD = frozenset(
    ["torch.no_grad", "torch.inference_mode", "torch.autograd.no_grad", "torch.autograd.grad_mode.no_grad"]
)


@dataclass(slots=True)
class Execution:
    """One script that was run. `whole` is false where it was given up before its end.

    `forwards`: by the identity of what the call of a model gave, that and what its `forward` gave, once for each.

    `uncalled`: it is a function or class of `script` that no script comes to. `entered`: the functions that were open
    each time when one was entered, that one last.
    """

    script: str
    events: list[Event] = field(default_factory=list)
    entered: list[tuple[Entered, ...]] = field(default_factory=list)
    forwards: dict[int, tuple[Value, Value]] = field(default_factory=dict)
    whole: bool = True
    uncalled: bool = False

    def named(self, *names: str) -> Iterator[Event]:
        """Yields the events of some names, in order."""
        return (one for one in self.events if one.name in names)
