"""Noise for a rank's own samples out of torch's own generator, which is seeded alike on all ranks. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from diagnostics.static.executed.own_data import OwnData
from diagnostics.static.executed.steps.noise import DRAWS, FILLS, is_alike, is_for_samples, values_of_loss
from diagnostics.static.executed.training import is_distributed, is_wrapped_backward, loader_of, runs_beside
from diagnostics.static.execution.events import Event, Execution
from diagnostics.static.execution.values import Const, Made, Value, same, sources, usual

_SEEDS = frozenset(
    ["torch.manual_seed", "torch.random.manual_seed", "torch.cuda.manual_seed", "torch.cuda.manual_seed_all",
     "torch.cuda.random.manual_seed", "torch.cuda.random.manual_seed_all", "lightning.seed_everything",
     "lightning.pytorch.seed_everything", "pytorch_lightning.seed_everything", "transformers.set_seed",
     "accelerate.utils.set_seed"]
)  # fmt: skip
_BY_CHANCE = frozenset(["torch.seed", "torch.random.seed", "torch.cuda.seed", "torch.cuda.seed_all"])
_LIKE = frozenset(["torch.rand_like", "torch.randn_like", "torch.randint_like"])
# One of a few kinds for each sample: what is kept, as dropout does, or which way it is turned.
_KINDS = frozenset([".bernoulli_", "torch.bernoulli", "torch.randint", "torch.randint_like", ".random_"])
_TESTS = frozenset(["<", ">", "<=", ">=", ".lt", ".gt", ".le", ".ge", ".floor", ".floor_", "torch.floor"])
_SUMS = frozenset(["+", "-", "*", "/"])
_SAMPLES = (".sample", ".rsample")
_OF_DISTRIBUTIONS = "torch.distributions."


def drawn_alike_by_torch(execution: Execution) -> Iterator[tuple[Event, Event, Event]]:
    """Yields (seeding, drawing of numbers for each sample, backward pass of what they went into), the first of each."""
    if not is_distributed(execution):
        return
    losses = [one for one in execution.events if is_wrapped_backward(one) and not one.without_gradients]
    if not losses or not _are_common(execution) or _parts_ranks(execution):
        return
    own, inside = OwnData(execution), [(one, values_of_loss(one, execution)) for one in losses]
    seeding: Event | None = None
    for drawn in execution.events:
        if drawn.name in _SEEDS and "cuda" not in drawn.name:
            seeding = drawn
        if seeding is None or _is_chosen(seeding, drawn) or not _is_noise(drawn, own):
            continue
        given = [one for one in (drawn.value, drawn.owner if drawn.name in FILLS else None) if one is not None]
        passed = next((one for one, values in inside if any(id(each) in values for each in given)), None)
        if passed is not None and not _is_mask(given, execution, passed, inside):
            yield seeding, drawn, passed
            return


def _are_common(execution: Execution) -> bool:
    """Whether nothing seeds torch's generator by the rank, by chance, or again in a loop."""
    seeds = [one for one in execution.events if one.name in _SEEDS]
    by_chance = any(one.name in _BY_CHANCE for one in execution.events)
    return bool(seeds) and not by_chance and all(not one.loops and _is_common(one) for one in seeds)


def _is_common(one: Event) -> bool:
    given = one.argument(0, "seed")
    return given is not None and "device_specific" not in one.keywords and is_alike(given)


def _is_chosen(seeding: Event, drawn: Event) -> bool:
    """Whether it depends on a test if a seed is set: but for `if seed is not None` of one that is set by default."""
    given = seeding.argument(0, "seed")
    known = isinstance(default := usual(given), Const) and isinstance(default.value, int)
    around = {id(one) for one in drawn.guards}
    return not all(
        id(guard) in around or (known and any(same(each, given) for each in sources(guard.test)))
        for guard in seeding.guards
    )


def _is_noise(event: Event, own: OwnData) -> bool:
    """Whether an event draws numbers for each sample in a loop, and not which of them are kept."""
    if not event.loops or not _draws(event) or runs_beside(event) or event.without_gradients or _is_forked(event):
        return False
    return event.name not in _KINDS and is_for_samples(event, own)


def _draws(event: Event) -> bool:
    """Whether an event draws from the generator that all of torch shares."""
    if event.keywords.get("generator") is not None:
        return False
    if event.name in _SAMPLES:
        return isinstance(event.owner, Made) and event.owner.name.startswith(_OF_DISTRIBUTIONS)
    return event.name in DRAWS or event.name in FILLS or event.name in _LIKE


def _is_forked(event: Event) -> bool:
    return any(isinstance(one, Made) and "rng" in one.name for one in event.contexts)


def _parts_ranks(execution: Execution) -> bool:
    """Whether one rank alone draws, by a loader or a layer, too: from then on the ranks' generators are apart."""
    for one in execution.events:
        draws = _draws(one) or (one.name == "iterate" and loader_of(one.owner) is not None) or _is_layer(one.name)
        if draws and any(_is_of_rank(guard.test) for guard in one.guards):
            return True
    return False


def _is_layer(name: str) -> bool:
    home, _, last = name.rpartition(".")
    return home == "torch.nn.init" or (home == "torch.nn" and last[:1].isupper() and "Loss" not in last)


def _is_of_rank(test: Value) -> bool:
    return any(
        "rank" in one.name.lower() or "is_main" in one.name
        if isinstance(one, Made)
        else isinstance(one, Const) and isinstance(one.value, str) and "RANK" in one.value
        for one in sources(test)
    )


def _is_mask(
    given: Sequence[Value], execution: Execution, passed: Event, inside: Sequence[tuple[Event, dict[int, Value]]]
) -> bool:
    """Whether numbers are only asked whether they are small enough: that is dropout, of whatever."""
    values = next(found for one, found in inside if one is passed)
    made = [one for one in values.values() if isinstance(one, Made)]
    floored = [one.value for one in execution.events if one.name in _TESTS and isinstance(one.value, Made)]
    return any(
        one.name in _TESTS and any(_is_nearly(each, given) for each in (one.owner, *one.args))
        for one in (*made, *floored)
    )


def _is_nearly(value: Value | None, given: Sequence[Value], depth: int = 2) -> bool:
    """Whether a value is what was drawn, or that with a number added or multiplied."""
    if any(value is one for one in given):
        return True
    summed = isinstance(value, Made) and value.name in _SUMS and depth
    return bool(summed) and any(_is_nearly(one, given, depth - 1) for one in value.args)  # type: ignore[union-attr]
