"""Batch normalisation takes its statistics from each rank's share instead of the global batch.

What it does: repeats the run of one process with each BatchNorm layer normalising the share of each rank by itself,
and compares that with the ranks.

Why it matters: mean and variance of a share are noisier than those of the batch; with a few samples a rank the model
that N ranks train is another one, and so are the running statistics that evaluation uses.

Fix: `torch.nn.SyncBatchNorm.convert_sync_batchnorm(model)` before wrapping (on GPUs), or a normalisation that does
not look at other samples: GroupNorm, LayerNorm.
"""

from __future__ import annotations

from diagnostics.parity.hypothesis import Explanation
from diagnostics.parity.measured import Measured, rows_of

CODE = "Y105"
NAME = "local-batch-statistics"


def explain(measured: Measured) -> Explanation | None:
    """Holds where one process with divided statistics computes what the ranks do, and without them it does not."""
    divided = {row.name: row for row in rows_of(measured.raw.get("by-share", ()))}
    row = measured.row("gradient")
    if row is None or row.first is None or "gradient" not in divided:
        return None
    if divided["gradient"].first is not None:
        return None
    layers = measured.facts.get("kinds", {}).get("batch_norm", 0)
    return Explanation(
        code=CODE,
        name=NAME,
        sentence=f"{layers} BatchNorm layer{'s' * (layers != 1)} take their statistics from each rank's own samples",
        proof=(
            f"one process that normalises each rank's share by itself gives the ranks' gradient to "
            f"{divided['gradient'].largest:.2g}; over the whole batch it is {row.largest:.2g} away",
        ),
        fix="model = torch.nn.SyncBatchNorm.convert_sync_batchnorm(model) before wrapping, or GroupNorm",
        step=row.first_step,
    )
