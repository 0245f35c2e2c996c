"""Each rank steps with its own gradient: nothing, or not everything, is averaged over the ranks.

What it does: writes the gradient of each rank as a sum of what each rank computes by itself, and looks for ranks in
whose gradient only their own share is.

Why it matters: the ranks train models that drift apart; the one that is saved has seen 1/N of the data.

Fix: call the wrapped model (not `model.module`), leave `no_sync` before the last backward pass, wrap after all
parameters require gradients, and average gradients by hand over all parameters if there is no wrapper.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from diagnostics.parity.hypothesis import Explanation
from diagnostics.parity.measured import Measured

CODE = "Y106"
NAME = "not-synchronised"


def explain(measured: Measured) -> Explanation | None:
    """Holds where the share of another rank has weight 0 in a gradient, in all parameters or in some."""
    step = measured.gradient_step
    if step is None or not measured.can_tell(step):
        return None
    number = measured.row("gradient").first_step  # type: ignore[union-attr] # there is a step
    if _is_local(measured, step, step["applied"]):
        return _explanation(measured, step, "each rank steps with its own gradient: nothing is averaged", (), number)
    pieces = _local_pieces(measured, step)
    if pieces:
        which = ", ".join(str(piece + 1) for piece in pieces)
        sentence = f"micro-batch {which} of {int(step['backwards'])} is not averaged over the ranks"
        return _explanation(measured, step, sentence, (), number)
    alone = [name for name, one in step["by_parameter"].items() if _is_local(measured, step, one["ranks"])]
    if not alone:
        return None
    rest = len(step["by_parameter"]) - len(alone)
    what = f"the gradient of {alone[0]}" + (f" and {len(alone) - 1} more" if len(alone) > 1 else "")
    sentence = f"{what} is not averaged over the ranks; that of {rest} other parameters is"
    return _explanation(measured, step, sentence, tuple(alone[:8]), number)


def _is_local(measured: Measured, step: Mapping[str, Any], sides: Any) -> bool:
    """Whether in each rank's gradient there is its own share, and no other."""
    for rank, side in enumerate(sides):
        if not measured.fits(side):
            return False
        weights = measured.shares(step, side)
        own = [weight for (of, _), weight in weights.items() if of == rank]
        others = [weight for (of, _), weight in weights.items() if of != rank]
        if not any(abs(one) > measured.tight for one in own) or any(abs(one) > measured.tight for one in others):
            return False
    return True


def _local_pieces(measured: Measured, step: Mapping[str, Any]) -> list[int]:
    """Returns the micro-batches of which each rank has its own and no other rank's."""
    if not all(measured.fits(side) for side in step["applied"]):
        return []
    numbers = sorted({number for _, number in step["shares"]})
    return [
        number
        for number in numbers
        if all(_own_only(measured, step, rank, number) for rank, _ in enumerate(step["applied"]))
    ]


def _own_only(measured: Measured, step: Mapping[str, Any], rank: int, number: int) -> bool:
    weights = measured.shares(step, step["applied"][rank])
    of = {one: weight for (one, piece), weight in weights.items() if piece == number}
    others = [weight for one, weight in of.items() if one != rank]
    return abs(of.get(rank, 0.0)) > measured.tight and all(abs(weight) <= measured.tight for weight in others)


def _explanation(
    measured: Measured, step: Mapping[str, Any], sentence: str, names: tuple[str, ...], number: int
) -> Explanation:
    proof = []
    for rank, side in enumerate(step["applied"]):
        if not names:
            weights = measured.shares(step, side)
            of = [
                sum(weight for (one, _), weight in weights.items() if one == other) for other in range(measured.world)
            ]
            shown = " + ".join(f"{weight:.6g} x g[{other}]" for other, weight in enumerate(of))
            proof.append(f"gradient of rank {rank} = {shown}, residual {side['residual']:.2g}")
    proof += [f"{name}: only the rank's own share" for name in names]
    lines = measured.lines.get("backward") or [""]
    return Explanation(
        code=CODE,
        name=NAME,
        sentence=sentence,
        proof=tuple(proof),
        fix="call the wrapped model, end no_sync before the last backward pass, average all gradients",
        where=lines[-1],
        step=number,
    )
