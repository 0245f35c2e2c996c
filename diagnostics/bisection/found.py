"""What a bisection found: the data behind report.json, report.md, the picture and the screen."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from diagnostics.bisection.case import Configuration
from diagnostics.bisection.trial import Failure, FailureKind, Trial


class SettingStatus(StrEnum):
    """What is known of one setting."""

    NEEDED = "needed"  # passes with the simplest value
    NOT_NEEDED = "not needed"  # fails with the simplest value, too
    NO_EFFECT = "no effect"  # another value was tried: it fails all the same
    HEALS = "heals"  # another value was tried: it passes
    NOT_TRIED = "not tried"


@dataclass(frozen=True, slots=True, kw_only=True)
class AxisRow:
    """One setting of the failing case."""

    axis: str  # "world size"
    value: str  # in the failing case
    other: str  # the value it was compared with
    standing: SettingStatus
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class StrategyRow:
    """One way of training the same model on the same ranks."""

    way: str  # "ddp"
    result: str  # "fails", "passes", "fails otherwise", "cannot run"
    note: str = ""


class Mark(StrEnum):
    """What was seen of one module of the model."""

    CULPRIT = "culprit"
    FAILS = "fails"  # the failure stays with only this left, or while this is there
    PASSES = "passes"  # fails still when this is a stand-in: it does not need this module
    NOT_TRIED = "not tried"


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeRow:
    """One module of the model, in the order of named_modules()."""

    path: str
    class_name: str
    mark: Mark
    parameters: int = 0
    place: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionRow:
    """One environment that the minimal case ran in."""

    wanted: str  # "torch==2.9.1"
    result: str
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bisection:
    """The whole answer. `failure` is None where nothing failed; `modules` holds more than one where only a set does."""

    name: str
    attempts: tuple[Attempt, ...]
    failing: Configuration | None = None
    failure: Failure | None = None
    failed: int = 0
    runs: int = 0
    minimal: Configuration | None = None
    modules: tuple[str, ...] = ()
    relation: str = "one"  # together: it takes all of them; each: any of them alone fails
    within: str | None = None  # the smallest module that holds all of them and fails alone
    heals: bool | None = None  # the whole model without it passes; None: could not be tried
    fails_alone: bool | None = None  # it alone fails in the same way
    module_class: str = ""
    module_place: str = ""
    outside: str = ""  # why no module is named, where the fault lies outside the model
    undecided: str = ""  # why the search came to no end
    axes: tuple[AxisRow, ...] = ()
    strategies: tuple[StrategyRow, ...] = ()
    tree: tuple[TreeRow, ...] = ()
    evidence: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    versions: tuple[VersionRow, ...] = ()
    folder: str = ""  # of the report, as the user would name it
    resume: str = ""  # the command that goes on with it
    repro: str = ""  # file name of the script, "" for none
    repro_failed: int = 0
    repro_runs: int = 0
    repro_note: str = ""
    tries: int = 0
    seconds: float = 0.0
    torch: str = ""
    training: str = ""  # the command of the real training, "" where it is not known

    @property
    def module(self) -> str | None:
        """The one module it is, None where it is none or several."""
        return self.modules[0] if len(self.modules) == 1 else None

    @property
    def exit_code(self) -> int:
        """0: it does not fail. 1: found. 3: it fails, and where is undecided."""
        if self.failure is None:
            return 3 if self.undecided else 0
        return 3 if self.undecided and not self.modules else 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One way of running the model, and what it gave."""

    way: str  # "ddp, 2 ranks, gloo on cpu"
    trial: Trial
    asked: bool = False  # by the user, or by default

    @property
    def too_slow(self) -> bool:
        """Came to no end under a compiler that nobody asked for: it takes minutes, which proves no hang."""
        failure = self.trial.failure
        compiles = self.trial.case.settings.compile and not self.asked
        return compiles and failure is not None and failure.kind is FailureKind.HANG

    @property
    def fails(self) -> bool:
        """Shows a failure."""
        return self.trial.failure is not None and not self.too_slow
