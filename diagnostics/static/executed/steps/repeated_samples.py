"""Predictions that Accelerate gathers with the samples that it repeats to make the last batch even. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from diagnostics.static.execution.events import Event, Execution
from diagnostics.static.execution.library import LOADER, SAME_ITEMS
from diagnostics.static.execution.values import Const, Items, Made, Mapped, Value, sources

_ACCELERATOR = "accelerate.Accelerator"
_OTHERWISE = frozenset(["even_batches", "dataloader_config", "**"])
# What keeps one value a sample: what is not in here makes one number of a batch, or other ones.
_PER_SAMPLE = frozenset(
    ["[]", "()", ".get", ".argmax", "torch.argmax", ".float", ".detach", ".cpu", ".to", ".logits", ".squeeze", ".long",
     ".contiguous", ".sigmoid", ".softmax", "torch.softmax", "torch.sigmoid", "torch.nn.functional.normalize",
     "torch.nn.functional.softmax", ".int", ".labels", ".pad_across_processes", ".generate"]
)  # fmt: skip
_MOST_STEPS = 12


def gathered_with_repeats(execution: Execution) -> Iterator[tuple[Event, Event]]:
    """Yields (gather, prepare) of what an evaluation computes of each sample, where no repeated one is taken out."""
    if any(one.name == ".gather_for_metrics" for one in execution.events):
        return
    for one in execution.named(".gather"):
        owner = one.owner
        if not isinstance(owner, Made) or owner.name != _ACCELERATOR or _OTHERWISE & owner.keywords.keys():
            continue
        if not one.loops or not one.without_gradients or one.value is None:
            continue
        read = next((found for value in _tensors(one.args[:1]) if (found := _sample_of(value)) is not None), None)
        prepared = _prepared(read, execution) if read is not None else None
        if prepared is not None and not _is_cut(execution, one.value):
            yield one, prepared


def _tensors(given: tuple[Value, ...] | list[Value] | object) -> Iterator[Value]:
    for one in given if isinstance(given, (tuple, list)) else ():
        if isinstance(one, Items):
            yield from _tensors(one.items)
        elif isinstance(one, Mapped):
            yield from (each for each in one.fields.values() if isinstance(each, Value))
        elif isinstance(one, Value):
            yield one


def _sample_of(value: Value) -> Made | None:
    """Returns the batch that a value was computed of sample by sample."""
    at: Value | None = value
    for _ in range(_MOST_STEPS):
        if not isinstance(at, Made):
            return None
        if at.name == "item":
            return at
        if at.name not in _PER_SAMPLE:
            return None
        given = [*at.args, *at.keywords.values()]
        first = given[0] if given else at.owner
        at = (
            first if at.name == "()" or at.name.startswith("torch.") or at.name == ".pad_across_processes" else at.owner
        )
    return None


def _prepared(batch: Made, execution: Execution) -> Event | None:
    """Returns the prepare() of the loader that a batch comes from, None where its last batch is left out."""
    loader = batch.owner
    for _ in range(_MOST_STEPS):
        if not isinstance(loader, Made) or loader.name not in SAME_ITEMS or not loader.args:
            break
        loader = loader.args[0]
    call = loader.owner if isinstance(loader, Made) and loader.name == "[]" else loader
    if not isinstance(call, Made) or call.name != ".prepare":
        return None
    place = loader.args[0] if isinstance(loader, Made) and loader.name == "[]" else Const(0)
    at = place.value if isinstance(place, Const) and isinstance(place.value, int) else None
    made = call.args[at] if at is not None and -len(call.args) <= at < len(call.args) else None
    if not isinstance(made, Made) or made.name != LOADER or "**" in made.keywords:
        return None
    drops = made.argument(8, "drop_last")
    if drops is not None and not (isinstance(drops, Const) and not drops.value):
        return None
    return next((one for one in execution.named(".prepare") if one.value is call), None)


def _is_cut(execution: Execution, gathered: Value) -> bool:
    """Whether what was gathered is cut to a length, or what comes of it is looked up by the numbers of the samples."""
    for event in execution.events:
        for given in (event.owner, *event.args, *event.keywords.values()):
            for one in sources(given):
                if not isinstance(one, Made) or one.name != "[]":
                    continue
                cuts = any(isinstance(each, Made) and each.name == "slice" for each in one.args)
                if cuts and any(each is gathered for each in sources(one.owner)):
                    return True
    return False
