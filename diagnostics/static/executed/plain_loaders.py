"""Loaders that a library was not given to deal out, in programs whose model it runs on several ranks. Pure."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from diagnostics.static.executed.ranks import speaks_of_ranks
from diagnostics.static.executed.training import loader_of
from diagnostics.static.execution.events import Event, Execution
from diagnostics.static.execution.values import Const, Instance, Made, Value, sources

_LIBRARIES = {"Fabric": ("lightning", "setup_dataloaders"), "Accelerator": ("accelerate", "prepare")}
_MAKES_READY = (".setup", ".setup_module", ".prepare", ".prepare_model")
_SEEDS = ("seed_everything", "set_seed", "manual_seed", "manual_seed_all")
_OF_RANKS = re.compile(r"rank|world|process|replica|shard|worker_info", re.IGNORECASE)


def plain_under_library(execution: Execution) -> Iterator[tuple[Made, Event, str]]:
    """Yields (loader, the library's backward in a loop over it, the method that would have dealt it out)."""
    told: set[int] = set()
    for backward in execution.named(".backward"):
        library = backward.owner if isinstance(backward.owner, Made) else None
        home, method = _LIBRARIES.get(library.name.rpartition(".")[2], ("", "")) if library is not None else ("", "")
        if library is None or not home or not library.name.startswith(home) or _is_for_one(library):
            continue
        ready = any(one.name in _MAKES_READY and one.owner is library for one in execution.events)
        loader = next((found for loop in reversed(backward.loops) if (found := loader_of(loop.over)) is not None), None)
        if not ready or loader is None or id(loader) in told or _is_dealt_out(loader):
            continue
        if _in_one_order(loader, execution):
            told.add(id(loader))
            yield loader, backward, method


def _is_for_one(library: Made) -> bool:
    devices = library.argument(2, "devices")
    return isinstance(devices, Const) and devices.value in (1, "1")


def _is_dealt_out(loader: Made) -> bool:
    """Whether the program deals out the data itself, or may."""
    given = (loader.argument(3, "sampler"), loader.argument(4, "batch_sampler"))
    if "**" in loader.keywords or any(one is not None and not _is_none(one) for one in given):
        return True
    return any(_knows_ranks(one) for one in sources(loader.argument(0, "dataset")))


def _knows_ranks(value: Value) -> bool:
    if isinstance(value, Instance):
        return bool(_OF_RANKS.search(ast.unparse(value.kind.kind)))
    return speaks_of_ranks(value) or (isinstance(value, Made) and value.name.endswith((".shard", "random_split")))


def _is_none(value: Value) -> bool:
    return isinstance(value, Const) and value.value is None


def _in_one_order(loader: Made, execution: Execution) -> bool:
    """Whether all ranks read in one order: as the data lies, or shuffled by a seed that they share."""
    shuffle = loader.argument(2, "shuffle")
    if shuffle is None or (isinstance(shuffle, Const) and not shuffle.value):
        return True
    seeds = [one for one in execution.events if one.name.rpartition(".")[2] in _SEEDS]
    given = [each for one in seeds for value in one.args for each in sources(value)]
    return bool(seeds) and not any(speaks_of_ranks(each) for each in given if not isinstance(each, Const))
