"""Noise for a rank's own samples that a generator draws, which is seeded alike on all ranks. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from diagnostics.static.executed.own_data import OwnData
from diagnostics.static.executed.ranks import is_common_seed, speaks_of_ranks
from diagnostics.static.executed.training import is_distributed, is_wrapped_backward, runs_beside
from diagnostics.static.execution.events import Event, Execution
from diagnostics.static.execution.values import Made, sources

_GENERATOR = "torch.Generator"
_SEEDED = frozenset(["numpy.random.default_rng", "numpy.random.RandomState"])
_DRAWS = frozenset(["torch.rand", "torch.randn", "torch.randint", "torch.normal", "torch.bernoulli", "torch.poisson"])
_FILLS = frozenset([".normal_", ".uniform_", ".random_", ".bernoulli_", ".exponential_"])
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
        if seeding is None or not _is_alike(seeding):
            continue
        used = [drawn] if _is_for_samples(drawn, own) else _spread(drawn, execution, own)
        passed = next((one for one in losses if any(_goes_into(each, one) for each in used)), None)
        if passed is not None:
            told.add(id(generator))
            yield seeding, drawn, passed


def _generator(event: Event) -> Made | None:
    """Returns the generator that an event draws from, where it has one of its own."""
    found = event.keywords.get("generator") if event.name in _DRAWS or event.name in _FILLS else None
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


def _is_alike(seeding: Event) -> bool:
    """Whether a seed is the same on every rank: nothing in it has to do with ranks, or is drawn."""
    for one in sources(seeding.args[0]):
        if speaks_of_ranks(one) and not is_common_seed(one):
            return False
        if isinstance(one, Made) and one.name.rpartition(".")[2] in _BY_CHANCE and not is_common_seed(one):
            return False
    return True


def _is_for_samples(drawn: Event, own: OwnData) -> bool:
    """Whether as many numbers are drawn as the rank has samples: one for all may have to be the same everywhere."""
    sizes = [one for name, one in drawn.keywords.items() if name in ("size", "input", "mean")]
    given = [*drawn.args, *sizes, *([drawn.owner] if drawn.name in _FILLS else [])]
    return any(own.of(one, sizes=True) is not None for one in given)


def _spread(drawn: Event, execution: Execution, own: OwnData) -> list[Event]:
    """Returns what makes one number that was drawn that of each sample: `t.expand(len(batch))`."""
    return [
        one
        for one in execution.events
        if one.name in _SPREADS
        and any(own.of(each, sizes=True) is not None for each in one.args)
        and any(each is drawn.value for each in sources(one.owner if one.name.startswith(".") else one.args[0]))
    ]


def _goes_into(drawn: Event, passed: Event) -> bool:
    """Whether numbers are in a loss, and in the same round."""
    loss = passed.owner if passed.name == ".backward" else passed.argument(0, "loss")
    wanted = drawn.owner if drawn.name in _FILLS else drawn.value
    inside = {id(one) for one in sources(loss)}
    return id(drawn.value) in inside or (wanted is not None and id(wanted) in inside)
