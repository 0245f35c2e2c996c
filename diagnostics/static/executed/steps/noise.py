"""Noise for a rank's own samples that a generator draws, which is seeded alike on all ranks. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from diagnostics.static.executed.own_data import OwnData
from diagnostics.static.executed.ranks import is_common_seed, speaks_of_ranks
from diagnostics.static.executed.training import is_distributed, is_wrapped_backward, runs_beside
from diagnostics.static.execution.events import Event, Execution
from diagnostics.static.execution.values import Const, Made, Value, made_of, sources

_MOST = 2000  # values of a loss
_GENERATOR = "torch.Generator"
_SEEDED = frozenset(["numpy.random.default_rng", "numpy.random.RandomState"])
DRAWS = frozenset(["torch.rand", "torch.randn", "torch.randint", "torch.normal", "torch.bernoulli", "torch.poisson"])
FILLS = frozenset([".normal_", ".uniform_", ".random_", ".bernoulli_", ".exponential_"])
_SPREADS = frozenset([".expand", ".repeat", ".tile", ".repeat_interleave", ".broadcast_to", "torch.broadcast_to"])
_OF_NUMPY = frozenset([".standard_normal", ".normal", ".random", ".uniform", ".integers", ".randn", ".rand",
                       ".binomial", ".exponential", ".beta"])  # fmt: skip
# What a seed is not the same by on all ranks.
_BY_CHANCE = ("time", "time_ns", "getpid", "urandom", "seed", "initial_seed", "uuid4", "randint", "random", "randbits",
              "gethostname", "monotonic", "argument", "fork")  # fmt: skip


def drawn_alike(execution: Execution) -> Iterator[tuple[Event, Event, Event]]:
    """Yields (seeding, drawing of numbers for each sample, backward pass of what they went into)."""
    if not is_distributed(execution):
        return
    losses = [one for one in execution.events if is_wrapped_backward(one) and not one.without_gradients]
    own = OwnData(execution) if losses else None
    told: set[int] = set()
    for drawn in execution.events if own is not None else ():
        generator = _generator(drawn)
        if generator is None or id(generator) in told or not drawn.loops or runs_beside(drawn) or own is None:
            continue
        seeding = _seeding(generator, drawn, execution)
        if seeding is None or not is_alike(seeding.args[0]):
            continue
        used = [drawn] if is_for_samples(drawn, own) else _spread(drawn, execution, own)
        passed = next((one for one in losses if any(_goes_into(each, one, execution) for each in used)), None)
        if passed is not None:
            told.add(id(generator))
            yield seeding, drawn, passed


def _generator(event: Event) -> Made | None:
    """Returns the generator that an event draws from, where it has one of its own."""
    found = event.keywords.get("generator") if event.name in DRAWS or event.name in FILLS else None
    if event.name in _OF_NUMPY:
        found = event.owner
    made = isinstance(found, Made) and (found.name == _GENERATOR or found.name in _SEEDED)
    return found if made and isinstance(found, Made) else None


def _seeding(generator: Made, drawn: Event, execution: Execution) -> Event | None:
    """Returns what seeds a generator; None where that is done again in the rounds of the loop, or by itself."""
    if generator.name in _SEEDED:
        made = next((one for one in execution.named(generator.name) if one.value is generator), None)
        return made if made is not None and made.args and not made.loops else None
    seeds = [one for one in execution.events if one.owner is generator and "seed" in one.name]
    once = len(seeds) == 1 and seeds[0].name == ".manual_seed" and seeds[0].args and not seeds[0].loops
    return seeds[0] if once else None


def is_alike(seed: Value) -> bool:
    """Whether a seed is the same on every rank: nothing in it has to do with ranks, or is drawn."""
    for one in sources(seed):
        if isinstance(one, Const) and isinstance(one.value, str) and one.value.lower().endswith("seed"):
            continue  # the key of a seed in a configuration
        if speaks_of_ranks(one) and not is_common_seed(one):
            return False
        if isinstance(one, Made) and one.name.rpartition(".")[2] in _BY_CHANCE and not is_common_seed(one):
            return False
    return True


def is_for_samples(drawn: Event, own: OwnData) -> bool:
    """Whether as many numbers are drawn as the rank has samples: one for all may have to be the same everywhere."""
    sizes = [one for name, one in drawn.keywords.items() if name in ("size", "input", "mean")]
    given = [*drawn.args, *sizes, *([drawn.owner] if drawn.name in FILLS else [])]
    return any(own.of(one, sizes=True) is not None and not _is_other_size(one) for one in given)


def _is_other_size(value: Value | None) -> bool:
    """Whether it is a size, and not that of the batch: `x.shape[1]`."""
    if not isinstance(value, Made) or len(value.args) != 1:
        return False
    asked = value.name == ".size" or (value.name == "[]" and getattr(value.owner, "name", "") == ".shape")
    at = value.args[0]
    return asked and isinstance(at, Const) and at.value != 0


def _spread(drawn: Event, execution: Execution, own: OwnData) -> list[Event]:
    """Returns what makes one number that was drawn that of each sample: `t.expand(len(batch))`."""
    return [
        one
        for one in execution.events
        if one.name in _SPREADS
        and any(own.of(each, sizes=True) is not None for each in one.args)
        and any(each is drawn.value for each in sources(one.owner if one.name.startswith(".") else one.args[0]))
    ]


def _goes_into(drawn: Event, passed: Event, execution: Execution) -> bool:
    """Whether numbers are in a loss, and in the same round."""
    inside = values_of_loss(passed, execution)
    wanted = drawn.owner if drawn.name in FILLS else drawn.value
    return id(drawn.value) in inside or (wanted is not None and id(wanted) in inside)


def values_of_loss(passed: Event, execution: Execution) -> dict[int, Value]:
    """Returns what a loss was computed from by identity, also in the forward of the models that gave it."""
    waiting: list[Value | None] = [passed.owner if passed.name == ".backward" else passed.argument(0, "loss")]
    found: dict[int, Value] = {}
    while waiting and len(found) < _MOST:
        one = waiting.pop()
        if one is None or id(one) in found:
            continue
        found[id(one)] = one
        waiting += made_of(one)
        if id(one) in execution.forwards:
            waiting.append(execution.forwards[id(one)][1])
    return found
