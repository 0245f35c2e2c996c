"""All ranks compute the same bits from the same input.

What it does: compares a digest over the bytes of fixed matmuls between the ranks.

Why it matters: ranks that round differently drift apart where every rank repeats a computation; equal devices that
differ are mixed models, mixed library versions or a sick device.

Fix: use equal devices and one environment for all ranks; take out the rank that is named.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from diagnostics.core.findings import Evidence, Finding, Severity
from diagnostics.machine.contract import Machine
from diagnostics.machine.facts import RankResult
from diagnostics.preflight import rank_tasks
from diagnostics.preflight.probe import PreflightConfig, ProbeResult, Skip, Stage
from diagnostics.preflight.rank_values import SICK

CODE = "P503"
NAME = "device-agreement"
STAGE = Stage.DEVICE
REQUIRES: tuple[str, ...] = ()


def probe(machine: Machine, config: PreflightConfig) -> ProbeResult:
    """Returns a finding that names the ranks whose bits are not the most ranks'."""
    if rank_tasks.backend_and_ranks(machine, config)[1] < 2:
        raise Skip("needs two ranks")
    ranks, findings, place = rank_tasks.compute(machine, config, CODE)
    return ProbeResult(
        title=f"{len(ranks)} ranks compute the same bits on {place}",
        findings=findings or disagreement(ranks),
    )


def disagreement(ranks: Sequence[RankResult]) -> tuple[Finding, ...]:
    """Returns () where all digests are equal; of two ranks that differ neither can be the right one."""
    digests = {rank.rank: str(rank.answer.get("digest", "")) for rank in ranks}
    common, count = Counter(digests.values()).most_common(1)[0]
    odd = [rank for rank, digest in digests.items() if digest != common]
    if not odd:
        return ()
    named = odd if count > len(digests) / 2 else list(digests)
    who = f"rank{'s' if len(named) > 1 else ''} {', '.join(map(str, named))}"
    return (
        Finding(
            code=CODE,
            name="rank-divergence",
            severity=Severity.ERROR,
            title=f"{who} compute{'' if len(named) > 1 else 's'} other bits from the same input",
            where=who,
            evidence=(
                Evidence(
                    source="sha256 over matmuls of fixed input, by rank",
                    observed=", ".join(f"rank {rank}: {digest[:12]}" for rank, digest in digests.items()),
                    expected="one digest",
                ),
            ),
            fix=SICK,
        ),
    )
