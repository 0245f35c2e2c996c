"""What trying a case gave, and when two failures are the same one. Data only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Protocol

from diagnostics.bisection.case import Configuration
from diagnostics.bisection.failure_identity import same_place

PHASES = ("import", "construct", "batch", "edit", "group", "move", "wrap", "forward", "loss", "backward", "optimizer")


class FailureKind(Enum):
    """In which way a case fails."""

    SIGNAL = "signal"
    EXCEPTION = "exception"
    HANG = "hang"
    EXIT = "exit"  # left with a code of its own
    NONFINITE = "nonfinite"  # loss or gradients are not numbers
    DISAGREE = "ranks-disagree"  # gradients or parameters that must be equal are not
    MEMORY = "memory"  # over its limit


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """One way to fail. Two are the same where kind, detail, message and places are: the phase may move with an edit.

    `places` are the innermost frames of the user's own code in each culprit rank, "model.py:31 forward", sorted and
    each once. Where it lies in a library's module, that function comes first, without line, as it is all that is left
    when the module runs alone: "torch/nn/modules/linear.py forward < model.py:31 forward"; see `same_place`.
    """

    kind: FailureKind
    detail: str  # "SIGSEGV", "RuntimeError", "exit code 3", "loss"
    message: str = ""  # the exception's first line, numbers, shapes and addresses replaced by "#"
    places: tuple[str, ...] = ()
    phase: str = ""  # of PHASES, of the first culprit
    step: int = 0  # from 1; 0 before the first
    module: str | None = None  # dotted path that was open, as the ranks' own records say; a hint, no verdict
    module_class: str = ""
    ranks: tuple[int, ...] = ()  # culprits
    text: str = ""  # the whole message or stack, for people

    def same_as(self, other: Failure | None) -> bool:
        """Returns whether both are the same failure. Of hangs one place in common is enough: all wait for it."""
        if other is None or (self.kind, self.detail, self.message) != (other.kind, other.detail, other.message):
            return False
        if self.kind is FailureKind.HANG and self.places and other.places:
            return any(same_place(one, its) for one in self.places for its in other.places)
        return len(self.places) == len(other.places) and all(map(same_place, self.places, other.places))


@dataclass(frozen=True, slots=True, kw_only=True)
class ModuleNode:
    """One module of the model, as a healthy or partial forward saw it. In construction order of named_modules().

    Where the model was not built to its end, one for each construction that was begun, in that order: without path,
    with `built_as` and `inside`.
    """

    path: str  # "" is the model
    class_name: str
    place: str = ""  # "model.py:12", where its class is defined, "" for library classes
    built_as: str = ""  # "package.module.Class#2", see Edits.not_built
    inside: str = ""  # built_as of the module whose constructor was open when this one's began
    built: bool = True  # its constructor came to its end
    parameters: int = 0  # own and below
    calls: int = 0  # of its forward in one step, that came to their end
    entered: int = 0  # of its forward
    replaceable: bool = True  # a stand-in can take its place: output known, or a guess as it came to no end
    container: bool = False  # Sequential, ModuleList, ModuleDict
    also: tuple[str, ...] = ()  # its other paths, where several modules hold it


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """One case tried `runs` times, of which `failed` failed in the same way `failure`.

    `refusal` is one sentence where the case cannot be run as asked (no such factory, a wrapper not installed, an edit
    that does not fit): it says nothing about the failure looked for.
    """

    case: Configuration
    failure: Failure | None = None
    refusal: str = ""
    hint: str = ""
    seconds: float = 0.0
    runs: int = 1
    failed: int = 0
    tree: tuple[ModuleNode, ...] = ()
    torch: str = ""

    @property
    def passed(self) -> bool:
        """Ran to its end, every time."""
        return self.failure is None and not self.refusal

    def shows(self, failure: Failure) -> bool:
        """Returns whether it fails in this way."""
        return failure.same_as(self.failure)


class OutOfTries(Exception):  # noqa: N818 - no error: the user set the number
    """As many cases as were allowed have been tried; what is known is kept."""


class Oracle(Protocol):
    """Tries cases. Equal cases are tried once; what is known is kept over runs. May raise OutOfTries."""

    def ask(self, case: Configuration, why: str) -> Trial:
        """Returns what the case gives; `why` is shown while it is tried: "without blocks.3"."""

    def ask_all(self, cases: Sequence[tuple[Configuration, str]]) -> list[Trial]:
        """Returns what each case gives, tried side by side where there are the cores for it."""
