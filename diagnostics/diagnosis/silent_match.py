"""What the findings about silently wrong runs have in common: tables of prints, and their place beside a failure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from diagnostics.core.findings import Evidence, Role
from diagnostics.diagnosis.signature import Match
from diagnostics.dynamic.job.evidence import stood_still
from diagnostics.dynamic.job.job import Job
from diagnostics.dynamic.samples.training_passes import RankLoader
from diagnostics.record.batch_data import BatchPrint

SHOWN_BATCHES, SHOWN_SAMPLES, SHOWN_RANKS = 4, 6, 4


def as_told(job: Job, match: Match) -> Match:
    """Returns the match as what the job did wrong, or beside a crash or hang, which is why the job ended."""
    if not stood_still(job) and (not job.failed or job.facts.asked_to_end) and not job.culprits:
        return match
    return replace(match, finding=replace(match.finding, role=Role.CASCADE))


def print_table(loaders: Sequence[RankLoader], shown: Sequence[Sequence[BatchPrint]], number: int) -> list[Evidence]:
    """Returns a row a rank: prints of its first batches of a pass, and the indices its sampler gave."""
    first = [f"{one.number + 1}" for one in shown[0][:SHOWN_BATCHES]] if shown else []
    return [
        Evidence(
            source=f"rank {loader.rank}: prints of batches {', '.join(first)} of epoch {number + 1}",
            observed=prints_text(batches),
            expected="other ones on each rank" if loader is not loaders[0] else "",
        )
        for loader, batches in list(zip(loaders, shown, strict=True))[:SHOWN_RANKS]
    ]


def prints_text(batches: Sequence[BatchPrint]) -> str:
    """Returns "1f03a2b4 77ab0012 (samples 54, 10, 61 ...)"."""
    prints = " ".join(f"{batch.whole >> 32:08x}" for batch in batches[:SHOWN_BATCHES])
    indices = [index for batch in batches[:1] for index in batch.indices[:SHOWN_SAMPLES]]
    if not indices or min(indices) < 0:
        return prints
    return f"{prints} (samples {', '.join(map(str, indices))} ...)"
