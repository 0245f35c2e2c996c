"""Schedules that are as long as the whole data set, though each rank goes through its part of it. Pure."""

from __future__ import annotations

import ast
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
# Where it stands among the arguments of those functions, where it is not named.
_MADE_BY = {
    "get_scheduler": 3, "get_linear_schedule_with_warmup": 2, "get_cosine_schedule_with_warmup": 2,
    "get_cosine_with_hard_restarts_schedule_with_warmup": 2, "get_polynomial_decay_schedule_with_warmup": 2,
}  # fmt: skip
_LEAVES = frozenset(["break", "return"])
_REACHED = frozenset([">=", ">", "=="])


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


def counted_in_own_steps(execution: Execution) -> Iterator[tuple[Event, Event, Value, Event]]:
    """Yields (schedule, prepare, its length, the end of training) where the training ends after as many steps.

    Those are steps of each rank's optimizer, of which every one moves a prepared schedule on by num_processes.
    """
    makers = list(execution.named("accelerate.Accelerator"))
    if not makers or any(_SPLITS & one.keywords.keys() for one in makers):
        return
    prepares = list(execution.named(".prepare"))
    ends = [(one, limit) for one in execution.events if (limit := _limit(one)) is not None] if prepares else []
    for made in execution.events if ends else ():
        taken = next((one for one in prepares if made.value is not None and any(
            made.value is given for given in one.args)), None)  # fmt: skip
        for length in _lengths(made) if taken is not None else ():
            if any(speaks_of_ranks(one) or _is_length(one) for one in sources(length)):
                continue  # made for all ranks, or for what one process would go through
            steps = [one for one in execution.named(".step") if taken is not None and _is_from(one.owner, taken)]
            end = next((one for one, limit in ends if (limit is length or same(limit, length))
                        and any(one.loops[-1] in each.loops for each in steps)), None)  # fmt: skip
            if end is not None:
                yield made, taken, length, end  # type: ignore[misc] # asked for above
                break


def _is_from(value: Value | None, prepared: Event) -> bool:
    """Whether a value is one of those that Accelerate gave back."""
    return value is not None and (value is prepared.value or getattr(value, "owner", None) is prepared.value)


def _limit(event: Event) -> Value | None:
    """Returns the number of steps after which a loop is left, where no rank has to do with it."""
    test = event.guards[-1].test if event.name in _LEAVES and event.loops and event.guards else None
    if not isinstance(test, Made) or test.name not in _REACHED or len(test.args) != 2 or not event.guards[-1].taken:
        return None
    return test.args[1] if _counts_one_by_one(event) else None


def _counts_one_by_one(event: Event) -> bool:
    """Whether the number that a loop is left by is raised by 1 each time, not by the number of ranks or samples."""
    branch = event.guards[-1].node
    test = branch.test if isinstance(branch, ast.If) else None
    counted = ast.unparse(test.left) if isinstance(test, ast.Compare) else ""
    raised = [one.value for one in event.function.nodes_of(ast.AugAssign)
              if isinstance(one, ast.AugAssign) and ast.unparse(one.target) == counted]  # fmt: skip
    return bool(raised) and all(isinstance(one, ast.Constant) and one.value == 1 for one in raised)


def _is_length(value: Value) -> bool:
    return isinstance(value, Made) and value.name == "len"


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
    place = _MADE_BY.get(event.name.rpartition(".")[2])
    if place is not None and _OF_TRANSFORMERS not in event.keywords and len(event.args) > place:
        yield event.args[place]
    if not event.name.startswith(_SCHEDULES):
        return
    for where in _LENGTHS.get(event.name.removeprefix(_SCHEDULES), ()):
        given = event.argument(*where)
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
