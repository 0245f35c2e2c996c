"""What trains wrongly and says nothing: counted apart, since `run` claims little here."""

from __future__ import annotations

from operators import SILENT, Operator, Scene, either

WRONG = {SILENT: frozenset({"zero-progress", "collective-mismatch", "parameter-mismatch"})}
TRAIN = ("train",)


def _counts(scene: Scene) -> list[str]:
    return scene.for_all(
        f"seen = torch.ones(4).double() if {scene.mine} else torch.ones(4, dtype=torch.int64)", "dist.all_reduce(seen)"
    )


def _operation(scene: Scene) -> list[str]:
    return scene.for_all(
        "seen = torch.ones(4)", f"dist.all_reduce(seen, op=dist.ReduceOp.MAX if {scene.mine} else dist.ReduceOp.SUM)"
    )


OPERATORS = (
    Operator(
        name="no-step-on-any-rank",
        kinds=TRAIN,
        classes={SILENT: frozenset({"zero-progress"})},
        body=lambda scene: ["continue"],
        ranks=lambda scene: ((), tuple(range(scene.world))),
    ),
    Operator(
        name="empty-loader",
        kinds=TRAIN,
        classes={SILENT: frozenset({"zero-progress"})},
        iterable=lambda scene: "itertools.islice({0}, 0)",
        imports=("import itertools",),
        ranks=lambda scene: ((), tuple(range(scene.world))),
    ),
    Operator(
        name="nan-loss",
        kinds=TRAIN,
        classes={SILENT: frozenset()},  # no class of the doctor's says it
        body=lambda scene: scene.guarded(f'{scene.loss} = {scene.loss} * float("nan")'),
        about_loss=True,
    ),
    Operator(
        name="counts-of-other-type",
        kinds=TRAIN,
        classes=WRONG,
        body=_counts,
        imports=("import torch", "import torch.distributed as dist"),
        ranks=either,
    ),
    Operator(
        name="other-reduction",
        kinds=TRAIN,
        classes=WRONG,
        body=_operation,
        imports=("import torch", "import torch.distributed as dist"),
        ranks=either,
    ),
)
