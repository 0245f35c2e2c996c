"""What a scheduler says about itself: how often it was stepped, and after how many steps it ends."""

from __future__ import annotations

_HORIZONS = ("T_max", "total_steps", "total_iters", "step_size", "num_training_steps")


def facts_of(scheduler):
    """Returns its class, how often it was stepped, and after how many steps it ends, as far as it says so."""
    horizon = next((vars(scheduler)[name] for name in _HORIZONS if type(vars(scheduler).get(name)) is int), None)
    if horizon is None:
        horizon = next(filter(None, map(_horizon_of, getattr(scheduler, "lr_lambdas", ()))), None)
    count = getattr(scheduler, "last_epoch", None)
    return {
        "scheduler": type(scheduler).__qualname__,
        "stepped": count if type(count) is int else None,
        "horizon": horizon,
    }


def _horizon_of(function):
    """Returns what a function of the step says about the last one: a keyword of a partial, what it closes over."""
    words = getattr(function, "keywords", None) or {}
    code, cells = getattr(function, "__code__", None), getattr(function, "__closure__", None) or ()
    closed = {}
    for name, cell in zip(code.co_freevars if code is not None else (), cells):  # noqa: B905 - strict is of 3.10
        try:
            closed[name] = cell.cell_contents
        except ValueError:
            continue  # not bound yet
    named = ((name, value) for values in (words, closed) for name, value in values.items())
    likely = [value for name, value in named if type(value) is int and "warm" not in name and value > 1]
    return max(likely, default=None)
