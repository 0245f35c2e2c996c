"""Schedules that are as long as the whole data set, though each rank goes through its part of it. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from diagnostics.static.executed.ranks import speaks_of_ranks
from diagnostics.static.executed.training import loader_of, sampler_of
from diagnostics.static.execution.events import Event, Execution
from diagnostics.static.execution.values import Made, Value, same, sources, usual

_SCHEDULES = "torch.optim.lr_scheduler."
_LENGTHS = {
    "OneCycleLR": ((2, "total_steps"), (4, "steps_per_epoch")), "CosineAnnealingLR": ((1, "T_max"),),
    "LinearLR": ((3, "total_iters"),), "PolynomialLR": ((1, "total_iters"),),
    "CosineAnnealingWarmRestarts": ((1, "T_0"),), "CyclicLR": ((3, "step_size_up"),),
}  # fmt: skip
# Settings under which a schedule is stepped once for all ranks, or that may say so.
_SPLITS = frozenset(["split_batches", "step_scheduler_with_optimizer", "dataloader_config", "deepspeed_plugin",
                     "megatron_lm_plugin", "**"])  # fmt: skip
_OF_TRANSFORMERS = "num_training_steps"


def schedules_over_whole_set(execution: Execution) -> Iterator[tuple[Event, Made, Made]]:
    """Yields (schedule, the number of batches it counts, loader that gives each rank fewer)."""
    loaders = [
        one.value for one in execution.events if isinstance(one.value, Made) and loader_of(one.value) is one.value
    ]
    sharded = [one for one in loaders if one is not None and sampler_of(one) is not None]
    for made in execution.events if sharded else ():
        for length in _lengths(made):
            counted = _counted(length)
            loader = next((one for one in sharded if counted is not None and _is_of(counted, one)), None)
            if counted is not None and loader is not None and _steps_by_batch(execution, made, loader):
                yield made, counted, loader
                break


def counted_once_for_all(execution: Execution) -> Iterator[tuple[Event, Event, Made]]:
    """Yields (schedule, prepare, len) where Accelerate steps a schedule once a rank, and counts one rank's part for it.

    accelerate/scheduler.py:AcceleratedScheduler.step() steps num_processes times unless batches are split.
    """
    makers = list(execution.named("accelerate.Accelerator"))
    if not makers or any(_SPLITS & one.keywords.keys() for one in makers):
        return
    prepares = list(execution.named(".prepare"))
    for made in execution.events:
        taken = next((one for one in prepares if made.value is not None and any(
            made.value is given for given in one.args)), None)  # fmt: skip
        for length in _lengths(made) if taken is not None else ():
            found = list(sources(length))
            counted = next((one for one in found if isinstance(one, Made) and _is_length_of_prepared(one)), None)
            if counted is not None and not any(speaks_of_ranks(one) for one in found):
                yield made, taken, counted  # type: ignore[misc] # asked for above
                break


def _is_length_of_prepared(value: Made) -> bool:
    """Whether a number is the length of a loader that Accelerate has shared out: each rank's part."""
    if value.name != "len" or not value.args:
        return False
    loader = value.args[0]
    return isinstance(loader, Made) and any(
        isinstance(one, Made) and one.name == ".prepare" for one in (loader, loader.owner)
    )


def _lengths(event: Event) -> Iterator[Value]:
    """Yields the numbers of steps that a schedule is made for."""
    if _OF_TRANSFORMERS in event.keywords:
        yield event.keywords[_OF_TRANSFORMERS]
    if not event.name.startswith(_SCHEDULES):
        return
    for place in _LENGTHS.get(event.name.removeprefix(_SCHEDULES), ()):
        given = event.argument(*place)
        if given is not None:
            yield given


def _counted(length: Value) -> Made | None:
    """Returns the division of the size of a data set by a batch in a number of steps, where no ranks are in it."""
    found = list(sources(length))
    if any(speaks_of_ranks(one) for one in found):
        return None
    for one in found:
        if isinstance(one, Made) and one.name in ("/", "//") and len(one.args) == 2:
            return one
    return None


def _is_of(counted: Made, loader: Made) -> bool:
    """Whether a division is that of a loader's data set by its batch size: what one process alone would go through."""
    size, batch = counted.args
    data, given = loader.argument(0, "dataset"), loader.argument(1, "batch_size")
    of_data = any(isinstance(one, Made) and one.name == "len" and one.args and (one.args[0] is data or same(
        one.args[0], data)) for one in sources(size))  # fmt: skip
    return of_data and given is not None and (batch is given or same(batch, given) or same(usual(batch), usual(given)))


def _steps_by_batch(execution: Execution, made: Event, loader: Made) -> bool:
    """Whether a schedule is stepped in a loop over a loader."""
    return any(
        one.owner is made.value and any(loader_of(loop.over) is loader for loop in one.loops)
        for one in execution.named(".step")
    )
