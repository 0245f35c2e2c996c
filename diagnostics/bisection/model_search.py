"""Finds the smallest module that a failure comes from: hints first, then halves of the module tree."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from diagnostics.bisection.found import TreeRow
from diagnostics.bisection.trial import Oracle, Trial


class Relation(StrEnum):
    """How several modules belong to one failure."""

    ONE = "one"
    TOGETHER = "together"  # it takes all of them
    EACH = "each"  # any of them alone fails: as a rule, every instance of one class


@dataclass(frozen=True, slots=True, kw_only=True)
class ModuleFound:
    """Where the failure comes from. `modules` is empty where `outside` or `undecided` says why.

    "" is the model itself: its own forward, not one of its children. `within` is the smallest module that fails
    alone and holds all of `modules`, None where nothing smaller than the model does. `minimal` fails in the same
    way with all stand-ins that may be there, or runs the module alone.
    """

    minimal: Trial
    modules: tuple[str, ...] = ()
    relation: Relation = Relation.ONE
    within: str | None = None
    outside: str = ""
    undecided: str = ""
    heals: bool | None = None  # the whole model without it passes; None: could not be tried
    fails_alone: bool | None = None  # it alone fails in the same way
    class_name: str = ""
    place: str = ""
    tree: tuple[TreeRow, ...] = ()
    evidence: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def search_model(oracle: Oracle, failing: Trial, *, healthy: Trial | None = None) -> ModuleFound:
    """Returns the smallest module, or set of modules, whose removal heals and whose isolation fails in the same way.

    `failing` has its failure and the minimal settings; `healthy` is a trial of the same model that passes.
    """
    raise NotImplementedError
