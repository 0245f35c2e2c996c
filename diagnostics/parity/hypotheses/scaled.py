"""The gradient of N ranks is a multiple of one process's: summed instead of averaged, or divided once too often.

What it does: divides the gradient of the ranks by that of one process, parameter by parameter. Where it is the same
number everywhere, that number is the cause: N (summed over ranks), 1/N (averaged twice), the number of micro-batches
(not divided, or divided twice).

Why it matters: the learning rate is wrong by that factor with SGD, clipping cuts by it, and with Adam it hides until
weight decay, epsilon or a checkpoint from one process shows it.

Fix: divide by the world size exactly once (DistributedDataParallel does it already), and each micro-batch's loss by
their number exactly once.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from diagnostics.parity.hypothesis import Explanation
from diagnostics.parity.measured import Measured

CODE = "Y107"
NAME = "scaled-gradient"


def explain(measured: Measured) -> Explanation | None:
    """Holds where one factor, other than 1, is that of every parameter."""
    step = measured.gradient_step
    if step is None:
        return None
    number = measured.row("gradient").first_step  # type: ignore[union-attr] # there is a step
    found = step["factors"]
    if found["factor"] is None or measured.near(found["factor"], 1.0):
        return None
    if measured.fits(found):
        return _explanation(measured, found, "the gradient", len(found["by_parameter"]), number)
    return _of_some(measured, found["by_parameter"], number)


def _of_some(measured: Measured, each: Mapping[str, Any], number: int) -> Explanation | None:
    """Holds where some parameters have one factor, and the others none."""
    if not each or not all(measured.fits(one) for one in each.values()):
        return None
    scaled = {name: one for name, one in each.items() if not measured.near(one["factor"], 1.0)}
    factors = [one["factor"] for one in scaled.values()]
    if not factors or not all(measured.near(one, factors[0]) for one in factors):
        return None
    first, *others = scaled
    what = f"the gradient of {first}" + (f" and {len(others)} more parameters" if others else "")
    return _explanation(measured, scaled[first], what, len(scaled), number)


def _explanation(measured: Measured, found: Mapping[str, Any], what: str, many: int, number: int) -> Explanation:
    factor = float(found["factor"])
    meaning = meaning_of(factor, measured)
    return Explanation(
        code=CODE,
        name=NAME,
        sentence=f"{what} is {f'exactly {meaning[0]} times' if meaning else f'{factor:.6g} times'} that of one process"
        + (f" ({' = '.join(meaning)})" if meaning else ""),
        factor=" = ".join(meaning) or f"{factor:.9g}",
        proof=(f"ranks = {factor:.12g} x one process in {many} parameters, largest residual {found['residual']:.2g}",),
        fix=_fix(factor, " ".join(meaning)),
        where=(measured.lines.get("backward") or [""])[-1],
        step=number,
    )


def meaning_of(factor: float, measured: Measured) -> tuple[str, ...]:
    """Returns ("2", "number of ranks"), () for a factor that is none of those that are known."""
    step = measured.gradient_step or {}
    ranks, pieces = measured.world, max(int(step.get("backwards", 1)), measured.accumulate)
    known = [(float(ranks), "number of ranks"), (1 / ranks, "1 / number of ranks")]
    if pieces > 1:
        known += [
            (float(pieces), "number of micro-batches"),
            (1 / pieces, "1 / number of micro-batches"),
            (float(pieces * ranks), "ranks x micro-batches"),
            (1 / (pieces * ranks), "1 / (ranks x micro-batches)"),
            (ranks / pieces, "ranks / micro-batches"),
            (pieces / ranks, "micro-batches / ranks"),
        ]
    names = [name for value, name in known if measured.near(factor, value) and not measured.near(value, 1.0)]
    return (f"{factor:.6g}", " or ".join(names)) if names else ()


def _fix(factor: float, meaning: str) -> str:
    if " or " in meaning:
        return "divide by each exactly once; run it again with another --nproc to see which of them the factor is"
    if "micro" in meaning:
        return "divide the loss of each micro-batch by their number exactly once"
    if factor > 1:
        return "divide by the number of ranks exactly once: all_reduce sums, DistributedDataParallel averages"
    return "divide by the number of ranks exactly once: DistributedDataParallel has averaged already"
