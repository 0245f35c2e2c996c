"""Ranks draw the same random numbers from a generator of the program's, though they are seeded apart.

What it does: reads the states of the random generators that the program's objects hold, at three steps in a row, a few
times in a run. It is told where ranks that train one model have one in the same state at each of these steps, draw from
it in each, and mean to draw apart: their processes were given seeds of their own, and numbers are drawn in the shape of
what each rank reads; or this generator was in another state on each rank before.

Why it matters: noise, time steps, masks, actions or environments are the same on all ranks. N ranks average over one
draw, not over N: gradients are noisier than the batch says, and exploration covers an Nth. Nothing fails. Left alone:
generators that order samples, weights and gradients that are drawn alike, decisions that all ranks take together, and
programs that give all ranks one seed.

Fix: seed the generator with the rank: `torch.Generator().manual_seed(seed + dist.get_rank())`.

Bad:

    torch.manual_seed(seed + rank)
    noise = torch.Generator().manual_seed(seed)

Good:

    noise = torch.Generator().manual_seed(seed + rank)
"""

from __future__ import annotations

import re

from diagnostics.core.findings import Confidence, Evidence
from diagnostics.core.frame import Frame
from diagnostics.core.wording import shown_ranks
from diagnostics.diagnosis.mark_match import training_match
from diagnostics.diagnosis.signature import AppliesTo, Match
from diagnostics.dynamic.job.job import Job
from diagnostics.dynamic.replicas.source_lines import lines_like, text_of
from diagnostics.dynamic.samples.alike_generators import AlikeGenerator, alike_generator

CODE = "D940"
NAME = "generators-alike"
CLASS = "rng-collision"
EXAMINES = AppliesTo.ANY
WHILE_RUNNING = True

MOST_LINES, MOST_LOOKED_AT = 4, 40
_SEEDS = re.compile(r"\.(?:manual_)?seed\(")
_MAKES = re.compile(r"(?:Generator|default_rng|RandomState|Random)\(")


def match(job: Job) -> Match | None:
    """Returns the ranks that draw the same numbers."""
    found = alike_generator(job)
    if found is None:
        return None
    who = shown_ranks([one.rank for one in found.pair if one.rank is not None])
    seeded = _seeded(job, found)
    at = f" at {job.line(found.draws[0])}"
    if found.apart is not None:
        why = f"though it was in another state on each until step {found.apart}"
    else:
        why = f"though their processes are seeded with {found.seeds[0]} and {found.seeds[1]}"
    return training_match(
        job,
        found.pair,
        code=CODE,
        name=NAME,
        failure_class=CLASS,
        title=f"{who.capitalize()} draw the same numbers from {found.held.path}{at}, {why}",
        evidence=[
            Evidence(
                source=f"state of {found.held.path} in three steps up to {found.steps[-1]}, on both ranks",
                observed=", ".join(f"{state:08x}" for state in found.held.states),
                expected="other ones on each rank",
            ),
            *(
                [Evidence(source="seed of this generator, on both ranks", observed=str(found.held.seed))]
                if found.held.seed is not None
                else []
            ),
        ],
        fix=f"seed it with the rank{f' at {job.line(seeded[0])}' if seeded else ''}: seed + dist.get_rank()",
        places=tuple(dict.fromkeys([*seeded, *found.draws[:MOST_LINES]])),
        confidence=Confidence.LIKELY,
    )


def _seeded(job: Job, found: AlikeGenerator) -> tuple[Frame, ...]:
    """Returns where a generator of this name is seeded: anew first, where it was another one on each before."""
    name = re.compile(rf"\b{re.escape(found.held.name)}\b")

    def naming(pattern: re.Pattern[str], before: str) -> list[Frame]:
        lines = lines_like(job, found.pair[0], pattern, MOST_LOOKED_AT)
        return [one for one in lines if name.search(text_of(job, one).partition(before)[0])]

    made = naming(_MAKES, "=")
    anew = [one for one in naming(_SEEDS, "seed(") if one not in made]
    return (*anew, *made) if found.apart is not None else (*made, *anew)
