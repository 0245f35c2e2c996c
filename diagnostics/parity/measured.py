"""What an experiment measured, as the hypotheses ask for it. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

NEVER = 1 << 30
RANDOM_NUMBERS = "random numbers"  # drawn alike on ranks: no difference, since they are handed out again
# What names a module and a parameter comes before what does not, and causes before effects.
CAUSES_FIRST = (
    "samples", "random numbers", "gradient", "loss", "clipped norm", "parameters", "buffers", "optimizer state",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One quantity: its largest relative difference, and the first that was too large (None where none was)."""

    name: str
    largest: float
    at: Mapping[str, Any]
    first: Mapping[str, Any] | None

    @property
    def first_step(self) -> int:
        """The first step at which it was too large."""
        return NEVER if self.first is None else int(self.first["step"])


@dataclass(frozen=True, slots=True, kw_only=True)
class CommonSamples:
    """A pass over a loader: `given` samples on all ranks, `different` ones; `fills` says that the last ones fill up."""

    number: int
    given: int
    different: int
    fills: bool
    by_rank: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """One experiment. `raw` is the comparison's answer; see children/parity/comparison.py."""

    raw: Mapping[str, Any]
    tolerance: float
    accumulate: int = 1
    fed: bool = False  # one process was given what the ranks were given, repetitions included
    rows: tuple[Row, ...] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "rows", rows_of(self.raw.get("rows", ())))

    @property
    def world(self) -> int:
        """The number of ranks."""
        return int(self.raw["world"])

    @property
    def steps(self) -> int:
        """The optimizer steps that were compared."""
        return int(self.raw["steps"])

    @property
    def facts(self) -> Mapping[str, Any]:
        """What rank 0 is: wrapper, class, kinds of modules."""
        found: Mapping[str, Any] = self.raw.get("facts", {})
        return found

    @property
    def lines(self) -> Mapping[str, Any]:
        """Lines of the user's code: `step`, `backward`, `clip`."""
        found: Mapping[str, Any] = self.raw.get("lines", {})
        return found

    @property
    def first(self) -> Row | None:
        """The row of the first difference: the earliest step, and in it the cause before the effect."""
        apart = [row for row in self.rows if row.first is not None and row.name != RANDOM_NUMBERS]
        return min(apart, key=lambda row: (row.first_step, CAUSES_FIRST.index(row.name)), default=None)

    @property
    def start_differs(self) -> bool:
        """Whether the ranks had different parameters before the first step."""
        return float(self.raw.get("start", {}).get("difference", 0.0)) > self.tolerance

    @property
    def same(self) -> bool:
        """Whether nothing differs."""
        return self.first is None and not self.start_differs and not self.repeats

    @property
    def repeats(self) -> tuple[CommonSamples, ...]:
        """Passes over a loader in which ranks were given samples of each other, though each has its own only once."""
        if not self.fed and (row := self.row("gradient")) is not None and row.first is None:
            return ()  # one process had the batches without them, and computes the same: they have no weight
        found = (repeats_of(one["batches"], int(one["pass"])) for one in self.raw.get("passes", ()))
        return tuple(one for one in found if one is not None)

    def row(self, name: str) -> Row | None:
        """Returns one row, None where it was not measured."""
        return next((row for row in self.rows if row.name == name), None)

    def of_step(self, step: int) -> Mapping[str, Any]:
        """Returns what is known of one step; see children/parity/relations.py."""
        found: Mapping[str, Any] = self.raw["by_step"][step]
        return found

    @property
    def gradient_step(self) -> Mapping[str, Any] | None:
        """The first step at which the gradients differ, None where they never do."""
        row = self.row("gradient")
        return None if row is None or row.first is None else self.of_step(row.first_step)

    @property
    def tight(self) -> float:
        """How exactly a relation must hold to be one: least squares lose some digits."""
        return max(10 * self.tolerance, 1e-7)

    def near(self, one: float | None, other: float) -> bool:
        """Whether two factors are the same."""
        return one is not None and abs(one - other) <= self.tight * max(1.0, abs(other))

    def shares(self, step: Mapping[str, Any], side: Mapping[str, Any] | None = None) -> dict[tuple[int, int], float]:
        """Returns the weights of one side, by default one process's, as {(rank, backward pass): weight}."""
        side = step["one"] if side is None else side
        return {(rank, number): weight for (rank, number), weight in zip(step["shares"], side["weights"], strict=True)}

    def fits(self, side: Mapping[str, Any]) -> bool:
        """Whether a gradient is made of the shares and nothing else."""
        return float(side["residual"]) <= self.tight

    def can_tell(self, step: Mapping[str, Any]) -> bool:
        """Whether the shares of a step are known, and differ from each other."""
        return "shares" in step and not step["alike"]


def rows_of(found: Sequence[Mapping[str, Any]]) -> tuple[Row, ...]:
    """Returns the comparison's rows."""
    return tuple(
        Row(name=one["row"], largest=one["largest"], at=one.get("at", {}), first=one["first"]) for one in found
    )


def repeats_of(batches: Sequence[Sequence[Sequence[str]]], number: int) -> CommonSamples | None:
    """Returns what ranks have in common within one pass, None where each has its own.

    Content tells samples apart: where a rank meets the same one twice, equal ones are many, and nothing is said. A
    single common sample is one too many only where it ends a rank's pass and began one: so a sampler fills up.
    """
    ranks = [[digest for batch in one for digest in batch] for one in batches]
    whole = [digest for one in ranks for digest in one]
    common = len(whole) - len(set(whole))
    if not common or any(len(one) != len(set(one)) for one in ranks):
        return None
    by_step = [[list(batch) for batch in step] for step in zip(*batches, strict=False)]
    fills = _fills_up(ranks) or sum(len(_common(step)) for step in by_step if _fills_up(step)) == common
    if common == 1 and not fills:
        return None
    by_rank = tuple(len(one) for one in ranks)
    return CommonSamples(number=number, given=len(whole), different=len(set(whole)), fills=fills, by_rank=by_rank)


def _common(ranks: Sequence[Sequence[str]]) -> set[str]:
    """Returns the samples that are there more than once."""
    counts = Counter(digest for one in ranks for digest in one)
    return {digest for digest, count in counts.items() if count > 1}


def _fills_up(ranks: Sequence[Sequence[str]]) -> bool:
    """Whether fewer samples than ranks are common, and all of them began one rank's and end another's."""
    common = _common(ranks)
    began = {digest for one in ranks for digest in one[: len(common)]}
    ended = {digest for one in ranks for digest in one[-len(common) :]}
    return 0 < len(common) < len(ranks) and common <= began & ended


def listed(values: Sequence[float]) -> str:
    """Returns "0.5, 0.25"."""
    return ", ".join(f"{value:.6g}" for value in values)
