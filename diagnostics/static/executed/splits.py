"""Samples that are parted by chance after a seed of the rank's own, or among the processes of one machine. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from diagnostics.static.executed.saved_files import asks_rank
from diagnostics.static.executed.training import parts
from diagnostics.static.executed.values_met import values_met
from diagnostics.static.execution.events import Event, Execution
from diagnostics.static.execution.library import SAMPLER, WRAPPERS
from diagnostics.static.execution.values import Const, Instance, Made, Name, Value, same, sources

# What seeds a library for all that is drawn afterwards, by the library whose numbers it decides.
_SEEDS = {
    "random.seed": ("random",), "numpy.random.seed": ("numpy",), "torch.manual_seed": ("torch",),
    "transformers.set_seed": ("random", "numpy", "torch"), "lightning.seed_everything": ("random", "numpy", "torch"),
    "accelerate.utils.set_seed": ("random", "numpy", "torch"),
}  # fmt: skip
_SHUFFLES = {"random.shuffle": "random", "numpy.random.shuffle": "numpy"}  # what they are given
_DRAWS = {"random.sample": "random", "numpy.random.permutation": "numpy", "torch.randperm": "torch"}
_SPLITS = {"torch.utils.data.random_split": ("torch", "generator"), "torch.utils.data.dataset.random_split": (
    "torch", "generator"), "sklearn.model_selection.train_test_split": ("numpy", "random_state")}  # fmt: skip

_LOCAL_RANKS = frozenset(["LOCAL_RANK", "SLURM_LOCALID", "OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID"])
_LOCAL_SIZES = frozenset(["LOCAL_WORLD_SIZE", "SLURM_NTASKS_PER_NODE", "OMPI_COMM_WORLD_LOCAL_SIZE"])
_GLOBAL = frozenset(["RANK", "WORLD_SIZE"])
_INIT = "torch.distributed.init_process_group"
_WORLDS = ("torch.distributed.get_world_size",)
_COUNTS = ("torch.cuda.device_count", "torch.accelerator.device_count")
# What says that each machine has samples of its own.
_OF_MACHINES = re.compile(r"node|host|local|scratch|tmp|machine|ssd|nvme|shard", re.IGNORECASE)


def parted_after_own_seed(execution: Execution) -> Iterator[tuple[Event, Event]]:
    """Yields (what decides the parts, the seed of the rank before it)."""
    seeded: dict[str, Event] = {}
    for one in execution.events:
        for library in _SEEDS.get(one.name, ()):
            if any(asks_rank(given) for given in (*one.args, *one.keywords.values())):
                seeded[library] = one
            else:
                seeded.pop(library, None)
        if one.contexts or one.loops or not seeded:
            continue
        if one.name in _SPLITS and _SPLITS[one.name][1] not in one.keywords and _SPLITS[one.name][0] in seeded:
            yield one, seeded[_SPLITS[one.name][0]]
        drawn = one.args[0] if one.name in _SHUFFLES and one.args else one.value if one.name in _DRAWS else None
        library = _SHUFFLES.get(one.name) or _DRAWS.get(one.name, "")
        if drawn is None or library not in seeded or "generator" in one.keywords:
            continue
        if not any(asks_rank(each) for each in sources(drawn)) and _is_parted(drawn, execution):
            yield one, seeded[library]


def _is_parted(whole: Value, execution: Execution) -> bool:
    """Whether two parts of a list are taken: samples for training, and others."""
    cuts = {
        id(one.node)
        for one in values_met(execution)
        if one.name == "[]" and one.owner is whole and isinstance(one.args[0], Made) and one.args[0].name == "slice"
    }
    return len(cuts) > 1


def parted_on_each_machine(execution: Execution) -> Iterator[tuple[Event, Event]]:
    """Yields (sampler, where the program asks for its rank among all) that parts among one machine's processes only."""
    known = next((one for one in execution.events if any(_reads(each, _GLOBAL) for each in one.args)), None)
    grouped = any("process_group" in one.keywords or "device_mesh" in one.keywords for one in execution.events
                  if one.name in WRAPPERS)  # fmt: skip
    if known is None or grouped:
        return
    for one in execution.named(SAMPLER):
        count, rank, data = one.argument(1, "num_replicas"), one.argument(2, "rank"), one.argument(0, "dataset")
        counted = _reads(count, _LOCAL_SIZES) or any(
            isinstance(each, Made) and each.name in _COUNTS for each in sources(count)
        )
        whole = any(_reads(each, _GLOBAL) for each in (count, rank))
        if counted and _reads(rank, _LOCAL_RANKS) and not whole and not _is_of_a_machine(data):
            yield one, known


def told_rank_of_machine(execution: Execution) -> Iterator[tuple[Event, Event]]:
    """Yields (sampler, init_process_group) where the group is told a rank among all, and the sampler one machine's.

    The program says so itself: the group's rank is the sampler's and what comes before its machine, `node * 8 + gpu`,
    or it is read from RANK and the sampler's from LOCAL_RANK; and both are told one number of processes. A sampler that
    a function makes for several callers stands where that one calls it.
    """
    group = next((one for one in execution.named(_INIT) if not one.is_handled), None)
    if group is None:
        return
    world, whole = group.argument(3, "world_size"), group.argument(4, "rank")
    samplers = list(execution.named(SAMPLER))
    for one in samplers:
        count, rank, data = one.argument(1, "num_replicas"), one.argument(2, "rank"), one.argument(0, "dataset")
        counts_all = same(count, world) or (isinstance(count, Made) and count.name in _WORLDS)
        if not counts_all or same(rank, whole) or not _is_within_machine(rank, whole) or _is_of_a_machine(data):
            continue
        elsewhere = any(each is not one and each.node is one.node for each in samplers)
        last = one.frames[-1] if elsewhere and one.frames and one.frames[-1].function is one.function else None
        yield (replace(one, node=last.call, function=last.caller) if last is not None else one), group


def _is_within_machine(rank: Value | None, whole: Value | None) -> bool:
    """Whether a rank is that on one machine, by the rank among all that the group is told."""
    if isinstance(whole, Made) and whole.name == "int" and len(whole.args) == 1:
        whole = whole.args[0]
    if isinstance(whole, Made) and whole.name == "+" and len(whole.args) == 2:
        return any(same(one, rank) for one in whole.args) and not any(isinstance(one, Const) for one in whole.args)
    return _reads(whole, _GLOBAL) and _reads(rank, _LOCAL_RANKS) and not _reads(rank, _GLOBAL)


def _reads(value: Value | None, variables: frozenset[str]) -> bool:
    """Whether a value is read from one of some variables of the environment."""
    found = list(sources(value))
    if not any(isinstance(one, Const) and one.value in variables for one in found):
        return False
    named = (one.name for one in found if isinstance(one, (Name, Made)))
    return any(one in ("os.environ", "os.environ.get", "os.getenv") for one in named)


def _is_of_a_machine(data: Value | None) -> bool:
    """Whether a data set may be another one on each machine."""
    held = [data] if data is not None else []
    held += [each for part in (parts(data) if data is not None else ()) if isinstance(part, Instance)
             for each in part.fields.values()]  # fmt: skip
    return any(
        (isinstance(one, Const) and isinstance(one.value, str) and _OF_MACHINES.search(one.value))
        or (isinstance(one, (Made, Name)) and _OF_MACHINES.search(one.name))
        for each in held for one in sources(each)
    )  # fmt: skip
