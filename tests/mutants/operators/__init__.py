"""What can be wrong in a program: each operator puts one fault in at an anchor."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

CRASH, HANG, SILENT = "crash", "hang", "silent"
# Where others come by in every step. A fault that needs peers stands in one of these.
LOOPS = ("train", "eval")
IN_RANK = (*LOOPS, "forward", "hook")


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """Where a fault is put in: the rank and the step, and how the program tells them there."""

    rank: int
    world: int
    step: int
    rank_text: str
    step_text: str
    loss: str = ""
    port: int = 29500  # a free one

    @property
    def other(self) -> int:
        """Another rank."""
        return (self.rank + 1) % self.world

    @property
    def mine(self) -> str:
        """The condition that this is the rank."""
        return f"{self.rank_text} == {self.rank}"

    @property
    def now(self) -> str:
        """The condition that this is the step."""
        return f"{self.step_text or 'self.calls'} == {self.step}"

    def guarded(self, *statements: str) -> list[str]:
        """Returns statements for this rank and this step alone."""
        return [*self._count(), f"if {self.mine} and {self.now}:", *(f"    {row}" for row in statements)]

    def for_all(self, *statements: str) -> list[str]:
        """Returns statements for every rank at this step."""
        return [*self._count(), f"if {self.now}:", *(f"    {row}" for row in statements)]

    def _count(self) -> list[str]:
        return [] if self.step_text else ['self.calls = getattr(self, "calls", 0) + 1']


@dataclass(frozen=True, slots=True, kw_only=True)
class Operator:
    """One kind of fault.

    `classes` are those that are right, by the outcome that the mutant shows when it runs bare; another outcome means
    that the fault took no effect. `ranks` gives the sets of ranks that may be blamed. One of `body`, `iterable` and
    `script` is given: statements at an anchor, another iterable for the loop, a script around the command.
    """

    name: str
    kinds: tuple[str, ...]
    classes: Mapping[str, frozenset[str]]
    body: Callable[[Scene], Sequence[str]] | None = None
    iterable: Callable[[Scene], str] | None = None
    script: Callable[[Scene, str], str] | None = None
    # A line of the script that may be named; where there is a body, too, its lines are right as well.
    script_lines: tuple[str, ...] = ()
    imports: tuple[str, ...] = ()
    signal: int | None = None
    ranks: Callable[[Scene], tuple[tuple[int, ...], ...]] = field(default=lambda scene: ((scene.rank,),))
    leaves: bool = False  # it needs a place where the function may return
    about_loss: bool = False  # it stands behind the statement that binds the loss
    own_launch: bool = False  # it needs a program whose ranks a script can start


def crash(*classes: str) -> dict[str, frozenset[str]]:
    """Returns the classes of a fault that ends the job."""
    return {CRASH: frozenset(classes)}


def hang(*classes: str) -> dict[str, frozenset[str]]:
    """Returns the classes of a fault that stops the job."""
    return {HANG: frozenset(classes)}


def parting(*classes: str) -> dict[str, frozenset[str]]:
    """Returns the classes of a fault after which ranks part: whether they hang or crash, the program decides."""
    return {HANG: frozenset(classes), CRASH: frozenset(classes)}


def either(scene: Scene) -> tuple[tuple[int, ...], ...]:
    """Returns the answers that are right where ranks disagree and none of them is more wrong."""
    everyone = tuple(range(scene.world))
    return ((scene.rank,), everyone, (), *((one,) for one in everyone if one != scene.rank))


def by_family() -> list[tuple[str, Operator]]:
    """Returns all operators with the name of the file that holds them."""
    families = sorted(path.stem for path in Path(__file__).parent.glob("[a-z]*.py"))
    modules = [(family, importlib.import_module(f"operators.{family}")) for family in families]
    return [(family, operator) for family, module in modules for operator in module.OPERATORS]


def load() -> dict[str, Operator]:
    """Returns all operators by name. Raises ValueError where two have the same one."""
    pairs = by_family()
    found = {operator.name: operator for _, operator in pairs}
    if len(found) < len(pairs):
        raise ValueError("two operators have one name")
    return found
