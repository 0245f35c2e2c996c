"""Each epoch trains on the same random numbers, since something seeds torch's own generator anew between them.

What it does: reads the state of torch's own generators at the first two steps after each torch.manual_seed that comes
after training began. Told where three rounds in a row and more of one optimizer begin in one and the same state, and
the training draws from it.

Why it matters: an evaluation that is to be repeatable seeds the generator that the training draws from, too. Noise,
time steps, masks and augmentations are then the same in each epoch, on all ranks alike: the model learns a handful of
draws by heart. Nothing fails. Left alone: seeds that go along with the epoch, torch.random.fork_rng and states that
are put back, generators of one's own, trainings that draw nothing, new trainings in one process, seeds before each
step.

Bad:

    images = pipeline(generator=torch.manual_seed(0))

Good:

    images = pipeline(generator=torch.Generator().manual_seed(0))
"""

from __future__ import annotations

from diagnostics.core.findings import Confidence, Evidence
from diagnostics.diagnosis.mark_match import latest, training_match
from diagnostics.diagnosis.signature import AppliesTo, Match
from diagnostics.dynamic.job.job import Job
from diagnostics.dynamic.replicas.source_lines import own
from diagnostics.record.marks.run_marks import DrawnAgain

CODE = "D959"
NAME = "numbers-drawn-again"
CLASS = "rng-collision"
EXAMINES = AppliesTo.ANY
WHILE_RUNNING = True


def match(job: Job) -> Match | None:
    """Returns the ranks whose training draws the same numbers in each round."""
    found = [one for one in latest(job, DrawnAgain) if own(one.process, one.mark.path)]
    if not found:
        return None
    first = found[0]
    mark, path = first.mark, own(first.process, first.mark.path)[:2]
    seed = f" with {mark.seed}" if mark.seed is not None else ""
    return training_match(
        job,
        [one.process for one in found],
        code=CODE,
        name=NAME,
        failure_class=CLASS,
        title=f"The training draws the same random numbers over and over: {job.line(path[0])} seeds torch's own "
        f"generator{seed} each time",
        evidence=[
            Evidence(
                source=f"state of torch's own generators at the first step after each seeding, up to step {mark.step}",
                observed=f"the same {mark.run} times in a row",
                expected="another one each time",
            )
        ],
        fix="draw from a generator of its own there, torch.Generator().manual_seed(seed), seed with the epoch, too, or "
        "do it inside of torch.random.fork_rng()",
        places=path,
        confidence=Confidence.LIKELY,
    )
