"""A loop with a collective in it that can go round more often on one rank than on another.

What it does: flags loops over something whose length depends on the rank or on the rank's own files and data, with a
collective, a forward or a backward of a wrapped model in the body. `DistributedSampler` pads, `islice` to an agreed
length and `with model.join():` are balanced.

Why it matters: the rank with the shorter shard leaves the loop and goes on to the next operation; the others wait for
it in theirs. Training hangs at the end of the first epoch.

Bad:

    for batch in shards[rank]:
        loss = model(batch).mean()
        loss.backward()

Good:

    steps = torch.tensor(len(shards[rank]))
    dist.all_reduce(steps, op=dist.ReduceOp.MIN)
    for batch in itertools.islice(shards[rank], int(steps)):
        ...

What it cannot see: whether the shards happen to be of equal length.
"""

from __future__ import annotations

from collections.abc import Iterator

from diagnostics.audit.collectives.divergence_hits import WORDS as REASONS
from diagnostics.audit.collectives.divergence_hits import confidence, hit_of, operation, partings
from diagnostics.audit.collectives.loop_confidence import length_confidence
from diagnostics.audit.rule import Violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.executed.restored import goes_on_from_checkpoint
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile
from diagnostics.static.spmd.divergent_branch import DivergenceShape

CODE = "A206"
NAME = "collective-in-uneven-loop"
SEVERITY = Severity.ERROR
CHECKLIST = "loops with collectives are equally long on all ranks"


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the loops that can be longer on one rank."""
    for one in partings(file, project, DivergenceShape.LOOP):
        if one.ranks is not None:
            continue
        sure = length_confidence(one, project) if not hasattr(one.decision, "test") else confidence(one, project)
        if sure is not Confidence.POSSIBLE and goes_on_from_checkpoint(one.decision, project):
            continue  # each rank reads a file of its own, all of which were written in one step
        yield hit_of(
            one, file, project,
            f"how often this loop goes round depends on {REASONS.get(one.why, one.why)}, and {operation(one.here)} "
            "is in it: the rank that ends first leaves the others waiting",
            "give all ranks the same number of rounds: DistributedSampler, an agreed minimum, or model.join()",
            sure=sure,
        )  # fmt: skip
