"""Each rank divides by its own number of samples or tokens, and is then weighted like the others.

What it does: writes the gradient of the ranks and that of one process as sums of what each rank computes by itself.
One process weights the ranks by some count; the ranks weight each other alike. Which count that is, the batch tells:
its samples, or an entry that is not -100 or not 0.

Why it matters: a sample on a rank with few of them counts more. With padded text, ignored labels or a ragged last
batch it is a bias that grows with the number of ranks, and no curve shows it.

Fix: sum the loss, add the counts of all ranks with all_reduce, and multiply by world size / count, because
DistributedDataParallel averages over ranks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from diagnostics.parity.hypothesis import Explanation
from diagnostics.parity.measured import Measured, listed

CODE = "Y109"
NAME = "local-count"


def explain(measured: Measured) -> Explanation | None:
    """Holds where the ranks weight their shares alike, and one process unlike."""
    step = measured.gradient_step
    if step is None or not measured.can_tell(step) or not measured.fits(step["one"]):
        return None
    side = step["ranks"][0]
    if not measured.fits(side):
        return None
    theirs, mine = (_by_rank(measured, step, one) for one in (step["one"], side))
    if not all(measured.near(weight, mine[0]) for weight in mine) or mine[0] <= measured.tight:
        return None
    if all(measured.near(weight, theirs[0]) for weight in theirs):
        return None
    name, counts = _count(step, theirs, measured)
    shown = " and ".join(map(str, counts))
    if name == "samples":
        sentence = f"each rank divides by its own count of a ragged batch: {shown} samples"
    elif counts:
        sentence = f"each rank divides by its own count: {name} holds {shown} times"
    else:
        sentence = f"each rank divides by its own count: one process weighs their shares {listed(theirs)}"
    return Explanation(
        code=CODE,
        name="ragged-batch" if name == "samples" else NAME,
        sentence=sentence,
        factor=" : ".join(map(str, counts)) or listed(theirs),
        proof=(
            f"weights of the ranks' shares: {listed(mine)} on the ranks, {listed(theirs)} in one process",
            *((f"{name}: {', '.join(map(str, counts))} on ranks 0, 1, ...",) if counts else ()),
        ),
        fix="loss.sum() * world_size / count, where count is added over all ranks",
        where=(measured.lines.get("backward") or [""])[-1],
        step=measured.row("gradient").first_step,  # type: ignore[union-attr] # there is a step
    )


def _by_rank(measured: Measured, step: Mapping[str, Any], side: Mapping[str, Any]) -> list[float]:
    weights = measured.shares(step, side)
    return [sum(one for (rank, _), one in weights.items() if rank == wanted) for wanted in range(measured.world)]


def _count(step: Mapping[str, Any], weights: Sequence[float], measured: Measured) -> tuple[str, list[int]]:
    """Returns the count of the batch that has the proportions of these weights."""
    names = ["samples", *step["counts"][0]]
    for name in names:
        counts = [one.get(name, 0) if name != "samples" else step["sizes"][at] for at, one in enumerate(step["counts"])]
        whole = sum(counts)
        if whole and all(abs(count / whole - weight / sum(weights)) <= 1e-6 for count, weight in zip(counts, weights)):  # noqa: B905 - strict came with 3.10
            return name, counts
    return "", []
