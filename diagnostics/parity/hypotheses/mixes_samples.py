"""Something in the model or its loss mixes the samples of a batch: the mean over ranks is not that of the whole batch.

What it does: shows that the ranks average correctly what each computes by itself, and that no weighting of these
shares gives what one process computes on the whole batch.

Why it matters: statistics over the batch (a standard deviation, batch normalisation by hand), negatives from the
batch (contrastive losses), and losses that are no mean over samples see 1/N of the batch on each rank. That may be
meant; then the number of ranks is a setting of the model.

Fix: gather what is compared over the ranks (`torch.distributed.nn.all_gather` keeps the gradient), or compute it a
sample.
"""

from __future__ import annotations

from diagnostics.parity.hypothesis import Explanation
from diagnostics.parity.measured import Measured

CODE = "Y190"
NAME = "mixes-samples"


def explain(measured: Measured) -> Explanation | None:
    """Holds where the ranks' gradient is the mean of the shares, and one process's is no sum of them."""
    step = measured.gradient_step
    if (
        step is None
        or not measured.can_tell(step)
        or measured.fits(step["one"])
        or measured.raw.get("draws_for_whole_batches")
    ):
        return None
    side = step["ranks"][0]
    weights = measured.shares(step, side)
    by_rank = [sum(one for (rank, _), one in weights.items() if rank == wanted) for wanted in range(measured.world)]
    if (
        not measured.fits(side)
        or not all(measured.near(one, by_rank[0]) for one in by_rank)
        or _statistics_divided(measured)
    ):
        return None
    return Explanation(
        code=CODE,
        name=NAME,
        sentence="the ranks average correctly, but the loss of the whole batch is no mean over the ranks' shares",
        proof=(
            f"ranks = {by_rank[0]:.6g} x the sum of the shares, residual {side['residual']:.2g}",
            f"one process = no sum of the shares: residual {step['one']['residual']:.2g}",
        ),
        fix="gather over the ranks what is compared within a batch, or compute it a sample",
        step=measured.row("gradient").first_step,  # type: ignore[union-attr] # there is a step
    )


def _statistics_divided(measured: Measured) -> bool:
    """Whether batch normalisation explains it already."""
    found = [row for row in measured.raw.get("by-share", ()) if row["row"] == "gradient"]
    return bool(found) and found[0]["first"] is None
