"""Data workers that are seeded with the same numbers each time they are started. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator

from diagnostics.static.executed.loading.workers import has_some_workers, is_alike, loader_around
from diagnostics.static.executed.training import loader_of, parts
from diagnostics.static.execution.events import Event, Execution
from diagnostics.static.execution.library import LOADER
from diagnostics.static.execution.values import Const, Instance, Made, Value, sources, usual

# What seeds a generator, and what draws from it.
_SEEDS = {
    "numpy.random.seed": re.compile(r"numpy\.random\.(?!seed|default_rng|RandomState|Generator|get_state|SeedSeq)"),
    "random.seed": re.compile(r"random\.(?!seed|Random|SystemRandom|getstate)"),
    "torch.manual_seed": re.compile(r"torch\.(?:rand|bernoulli|multinomial|normal)|\.(?:uniform|normal|random)_$"),
}  # fmt: skip
_TORCH_TRANSFORM = re.compile(r"torchvision\.transforms\.(?:v2\.)?(?:Random|ColorJitter|GaussianBlur|RandAug|Trivial)")
_CHANGES = re.compile(r"epoch|round|step|iteration|generation|cycle", re.IGNORECASE)
_WORKER_ID = "samples"  # what a function of the loader's is given: of worker_init_fn, the worker's number
_INFO = "torch.utils.data.get_worker_info"


def seeded_again(execution: Execution) -> Iterator[tuple[Event, Made]]:
    """Yields (seeding in the data workers, loader) by the same number in each epoch, though another in each worker.

    Only of workers that are started anew for each epoch of a training, and of a generator that the data draw from.
    """
    made_at = {id(one.value): one for one in execution.named(LOADER)}
    for one in execution.events:
        loader = loader_around(one) if one.name in _SEEDS and one.args else None
        made = made_at.get(id(loader))
        if loader is None or made is None or not has_some_workers(loader) or _stays(loader):
            continue
        if len(one.loops) <= len(made.loops) or not _trains(loader, execution):
            continue
        found = list(sources(one.args[0]))
        repeats = any(_is_worker(each) for each in found) and all(_is_fixed(each) for each in found)
        if repeats and _draws(one.name, loader, execution):
            yield one, loader


def _stays(loader: Made) -> bool:
    """Whether the workers of a loader may live for more than an epoch."""
    given = loader.keywords.get("persistent_workers")
    known = usual(given)
    return given is not None and not (isinstance(known, Const) and known.value is False)


def _trains(loader: Made, execution: Execution) -> bool:
    """Whether gradients are computed from what a loader gives: an evaluation may well be the same each time."""
    return any(
        loader_of(loop.over) is loader
        for one in execution.events
        if one.name.endswith("backward") or one.name.endswith(".step")
        for loop in one.loops
    )


def _is_worker(value: Value) -> bool:
    if not isinstance(value, Made):
        return False
    return value.name == _WORKER_ID or (value.name == ".id" and _is_info(value.owner))


def _is_info(value: Value | None) -> bool:
    return isinstance(value, Made) and value.name == _INFO


def _is_fixed(value: Value) -> bool:
    """Whether a value is the same in each epoch, as far as it is not made of others."""
    if _is_worker(value) or _is_info(value):
        return True
    if isinstance(value, Made) and (value.name == "carried" or _is_info(value.owner) or _CHANGES.search(value.name)):
        return False  # the info's own seed, too, is another one in each epoch
    return is_alike(value)


def _draws(seeding: str, loader: Made, execution: Execution) -> bool:
    """Whether the data of a loader draw from the generator that is seeded, as far as can be seen."""
    drawn = _SEEDS[seeding]
    if any(drawn.match(one.name) for one in execution.events if loader_around(one) is loader):
        return True
    if seeding != "torch.manual_seed":
        return False
    data = loader.argument(0, "dataset")
    held = [
        each
        for part in (parts(data) if data is not None else ())
        for given in (part.fields.values() if isinstance(part, Instance) else (part,))
        for each in sources(given)
    ]
    return any(isinstance(one, Made) and _TORCH_TRANSFORM.match(one.name) for one in held)
