"""What is known of each tensor at one point of a function: who needs it for backward, what it is a view of. Pure."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum


@dataclass(frozen=True, slots=True, eq=False)
class AbstractTensor:
    """One tensor. `grad`: it provably takes part in the graph; `base` is what it is a view of."""

    grad: bool = False
    base: AbstractTensor | None = None
    view: str = ""  # the operation that made the view
    kind: str = ""  # "parameter", "buffer" or "input" (of the function)

    @property
    def root(self) -> AbstractTensor:
        """The tensor whose memory and version it shares."""
        return self if self.base is None else self.base.root

    def views(self) -> Iterator[AbstractTensor]:
        """Yields the views that lead to it, the last first."""
        if self.base is not None:
            yield self
            yield from self.base.views()


@dataclass(frozen=True, slots=True, eq=False)
class Saved:
    """Why backward needs a tensor: "sigmoid keeps its result", and where."""

    text: str
    node: ast.AST


class EventKind(StrEnum):
    """What goes wrong with a change in place."""

    SAVED = "saved"  # backward needs the value from before
    SEVERAL = "several"  # one of several views of one tensor
    EXPANDED = "expanded"  # several elements share memory
    READ_AFTER = "read-after"  # somebody reads it afterwards and means the value from before
    KEPT = "kept"  # a buffer takes in the graph of this step
    INPUT = "input"  # it is an input of the function: for callers to look at


@dataclass(frozen=True, slots=True, eq=False)
class InplaceEvent:
    """A change in place at `node` of the tensor called `name`."""

    kind: EventKind
    node: ast.AST
    name: str
    value: AbstractTensor
    saved: Saved | None = None
    read: ast.AST | None = None
    layer: str = ""  # the module made with inplace=True (or the project's module) that changes it


@dataclass(slots=True)
class AbstractState:
    """What holds on every way to one point. `stale`: names whose tensor an activation changed under them."""

    names: dict[str, AbstractTensor] = field(default_factory=dict)
    saved: dict[AbstractTensor, Saved] = field(default_factory=dict)
    stale: dict[str, tuple[ast.AST, str]] = field(default_factory=dict)
    alive: bool = True

    def copy(self) -> AbstractState:
        """Returns one that can be changed by itself."""
        return AbstractState(dict(self.names), dict(self.saved), dict(self.stale), self.alive)

    def bind(self, name: str, value: AbstractTensor | None) -> None:
        """Gives a name another tensor, None for one that nothing is known of."""
        self.stale.pop(name, None)
        if value is None:
            self.names.pop(name, None)
        else:
            self.names[name] = value

    def called(self, value: AbstractTensor) -> str:
        """Returns a name of a tensor, "" where it has none."""
        return next((name for name, one in self.names.items() if one is value), "")

    def sharing(self, value: AbstractTensor) -> list[str]:
        """Returns the names whose tensor shares memory with this one."""
        return [name for name, one in self.names.items() if one.root is value.root]


def merged(one: AbstractState, other: AbstractState) -> AbstractState:
    """Returns what holds after either of two ways."""
    if not (one.alive and other.alive):
        return one if one.alive else other
    found = AbstractState()
    found.saved = {value: why for value, why in one.saved.items() if value in other.saved}
    found.stale = {name: why for name, why in one.stale.items() if name in other.stale}
    for name, value in one.names.items():
        second = other.names.get(name)
        if second is value:
            found.names[name] = value
        elif second is not None:
            both = found.names[name] = AbstractTensor(grad=value.grad and second.grad)
            if value.root in one.saved and second.root in other.saved:
                found.saved[both] = one.saved[value.root]
    return found
