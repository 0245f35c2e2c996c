"""A loop with a collective in it that can go round more often on one rank than on another.

What it does: flags loops over something whose length depends on the rank or on the rank's own files and data, with a
collective, a forward or a backward of a wrapped model in the body. `DistributedSampler` pads, `islice` to an agreed
length and `with model.join():` are balanced; an operation of its own and SyncBatchNorm under `Join` are not. Also
`log_dict(..., sync_dist=True)` of a dict that has a key only where the rank's data has something for it, and a gather
for each key of such a dict; and loops that end with a rank's own batches, where a data set fills these by what its
samples are like (their duration, say); and batch samplers of the project that give a rank every so many-th batch, with
nothing that makes their number a multiple of the ranks.

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

import ast
from collections.abc import Iterator

from diagnostics.audit.collectives.divergence_hits import WORDS as REASONS
from diagnostics.audit.collectives.divergence_hits import confidence, hit_of, operation, partings
from diagnostics.audit.collectives.loop_confidence import length_confidence
from diagnostics.audit.executed import also, home, shown
from diagnostics.audit.rule import ExplanationStep, Violation, step, violation
from diagnostics.audit.subjects import MEETINGS
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.dataflow.taint_sources import DATA, LOSS
from diagnostics.static.executed.loading.own_batches import loops_of_own_length
from diagnostics.static.executed.loading.uneven_shares import uneven_shares
from diagnostics.static.executed.models.joined import meets_under_join
from diagnostics.static.executed.restored import goes_on_from_checkpoint
from diagnostics.static.executed.steps.logged_keys import exchanged_by_own_keys
from diagnostics.static.execution.events import Execution
from diagnostics.static.program.functions import last_name
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile
from diagnostics.static.spmd.collective_sites import CollectiveSites
from diagnostics.static.spmd.divergent_branch import DivergenceShape
from diagnostics.static.spmd.static_divergence import StaticDivergence

CODE = "A206"
NAME = "collective-in-uneven-loop"
SEVERITY = Severity.ERROR
SUBJECT = MEETINGS
CHECKLIST = "loops with collectives are equally long on all ranks"


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the loops that can be longer on one rank."""
    yield from also(_read(file, project), file, project, _run)


def _run(execution: Execution, project: Project) -> Iterator[Violation]:
    for met, join in meets_under_join(execution):
        name = "batch normalisation over all ranks" if met.name == "()" else met.name.rpartition(".")[2]
        yield violation(
            home(met, project),
            met.node,
            f"Join answers for the wrapped model alone: {name} in this loop waits for the ranks that have come to the "
            "end of their data",
            "throw_on_early_termination=True, so that all ranks stop with the first; or the same number of rounds on "
            "every rank",
            steps=(shown(join, project, "ranks may come to their end one after the other in here"),),
            confidence=Confidence.LIKELY,
        )

    for loop, exchange, filled, test in exchanged_by_own_keys(execution):
        yield violation(
            home(loop, project),
            loop.node,
            f"the keys of this dict are those that the rank's own samples brought in, and {last_name(exchange.func)}() "
            "is called for each: a rank that lacks one leaves the others waiting",
            "a fixed list of keys, with 0 or nan where a rank has no value; or gather the keys first",
            steps=(
                step(project.file_with(test.function), test.node, "decides by the rank's own samples"),
                shown(filled, project, "whether there is this key"),
            ),
            confidence=Confidence.LIKELY,
        )

    for taken, met, source in loops_of_own_length(execution):
        yield violation(
            home(taken, project),
            taken.node,
            "this loop ends with the rank's own batches, and how many those are is decided by what is in its samples: "
            "the rank that ends first leaves the others waiting",
            "agree on the end: all_reduce whether a batch is left; or deal out batches, as many to each rank",
            steps=(
                shown(source, project, "batches are made of the rank's share by what its samples are like"),
                shown(met, project, "the ranks meet here in each round"),
            ),
            confidence=Confidence.LIKELY,
        )

    for share, sampler, begun, met in uneven_shares(execution):
        file = project.by_path[sampler.kind.module.file]
        yield violation(
            file,
            share,
            f"{sampler.kind.kind.name} deals out batches one by one: where their number is no multiple of the ranks, "
            "some ranks get one more, and wait in it for the others",
            "leave out the last ones (`n // num_replicas * num_replicas`), or fill up, so that all ranks get as many",
            steps=(
                shown(begun, project, "a rank's loop ends with its own batches"),
                shown(met, project, "the ranks meet here in each round"),
            ),
            confidence=Confidence.LIKELY,
        )


def _read(file: ProjectFile, project: Project) -> Iterator[Violation]:
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
    yield from _logged(file, project)


def _logged(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields log_dict(sync_dist=True) of a dict that has other keys on other ranks: it reduces key by key."""
    for call, function in project.calls_in(file) if "log_dict" in file.words else ():
        site = project.fact(CollectiveSites).own(call, function) if last_name(call.func) == "log_dict" else None
        given = call.args[0] if site is not None and call.args else None
        if site is None or given is None or isinstance(given, ast.Dict):
            continue
        taint = project.fact(StaticDivergence).taints.of_loop(given, function)
        if taint is None or taint.why not in (DATA, LOSS) or not taint.control:
            continue
        yield violation(
            file,
            call,
            f"which keys are logged depends on {REASONS.get(taint.why, taint.why)}, and each is reduced over all ranks "
            "by itself: a rank without one of them leaves the others waiting",
            "the same keys on every rank: a value of 0 or nan where a rank has none, or a torchmetrics metric",
            steps=(
                ExplanationStep(
                    place=project.by_path[taint.file].place(taint.line), text="decides whether it is there"
                ),
            ),
            confidence=Confidence.LIKELY,
        )
