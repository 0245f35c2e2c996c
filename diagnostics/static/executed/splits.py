"""Samples that are parted by chance after a seed that follows from the rank. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from diagnostics.static.executed.saved_files import asks_rank
from diagnostics.static.executed.values_met import values_met
from diagnostics.static.execution.events import Event, Execution
from diagnostics.static.execution.values import Made, Value, sources

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
