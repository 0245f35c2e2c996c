"""Every rank draws the same noise for its own samples.

What it does: runs each script on values that are not known, and flags a generator (torch.Generator, numpy's
default_rng, or the one that all of torch shares) that is seeded alike on all ranks, and draws numbers for each sample
of a batch that go into the loss, in the loop or in the forward of a model.

Why it matters: the ranks train on other samples with the same timesteps, masks or noise. The average of their gradients
covers as many draws as one rank would; what N ranks were to even out, stays. Nothing fails.

Bad:

    generator = torch.Generator(device).manual_seed(args.seed)
    noise = torch.randn(x.shape, device=device, generator=generator)

Good:

    generator = torch.Generator(device).manual_seed(args.seed + dist.get_rank())

A number that all ranks have to agree on, such as the size to which a batch is scaled, is to be drawn alike: of draws
that are not as many as the samples nothing is said.

Of torch's own generator, dropout and its like (numbers that are only compared with a chance), draws before the training
and programs in which one rank alone draws are left alone: seed it by the rank once the model is made.

What it cannot see: seeds that another program gives.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from diagnostics.audit.executed import also, home, shown
from diagnostics.audit.rule import Violation, step, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.executed.steps.common_noise import drawn_alike_by_torch
from diagnostics.static.executed.steps.noise import drawn_alike
from diagnostics.static.execution.events import Event, Execution
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile

CODE = "A172"
NAME = "noise-drawn-alike"
SEVERITY = Severity.WARNING
RUN_CLASS, RUN_WHEN = "rng-collision", "ranks"
WORDS = ("Generator", "default_rng", "RandomState", "manual_seed", "set_seed", "seed_everything")
CHECKLIST = "each rank draws noise of its own"


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the generators that give all ranks the same noise."""
    yield from also((), file, project, _run, uncalled=True)


def _run(execution: Execution, project: Project) -> Iterator[Violation]:
    for seeding, drawn, passed in drawn_alike(execution):
        yield _told("this generator", seeding, drawn, passed, project)
    for seeding, drawn, passed in drawn_alike_by_torch(execution):
        yield _told("torch's own generator", seeding, drawn, passed, project)


def _told(generator: str, seeding: Event, drawn: Event, passed: Event, project: Project) -> Violation:
    # A helper that is given the seed is told by who calls it, too.
    given = [one.id for one in getattr(seeding.node, "args", ()) if isinstance(one, ast.Name)]
    helps = seeding.frames and not set(given).isdisjoint(seeding.function.parameters)
    call = seeding.frames[-1] if helps else None
    return violation(
        home(seeding, project),
        seeding.node,
        f"{generator} is seeded alike on all ranks, and draws for each sample: every rank has the same noise for "
        "other samples",
        "seed it by the rank: manual_seed(seed + dist.get_rank())",
        steps=(
            *([step(project.file_with(call.caller), call.call, "seeds by this call")] if call is not None else []),
            shown(drawn, project, "numbers for each sample of the batch"),
            shown(passed, project, "they go into the loss that is averaged over the ranks"),
        ),
        confidence=Confidence.LIKELY,
    )
