"""Programs whose cause of failure stands in their text, written before anything was mended.

Of the first 27, ten were found then; of 20 more, told as people tell such failures in public issue threads, five.
Of 34 by another author, who had read the README only, 16; 24 of the 34 in `healthy` are these with the fault repaired.
A line that ends with `# cause` is one where a reviewer would comment; causes.txt names lines that bear no comment. One
finding at one of them is enough.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from diagnostics.audit.engine import audit
from diagnostics.audit.files import collect
from diagnostics.audit.found import Audit
from diagnostics.audit.rule import Violation
from diagnostics.audit.run import rules_of_files
from diagnostics.core.findings import Confidence, Severity

CAUSES = Path(__file__).parent / "causes"
HEALTHY = Path(__file__).parent / "healthy"
RULES = rules_of_files()
NOT_FOUND = {
    "accumulation_ends_uneven", "exception_then_barrier", "threads_before_the_pool", "slurm_xray",
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(path.name for path in CAUSES.iterdir()))
def test_the_cause_of_a_failure_is_found_at_its_line(name: str) -> None:
    result = audit(collect([CAUSES / name], below=CAUSES / name).files, RULES)
    assert not result.crashed
    loud = _loud(result)
    listed = CAUSES / name / "causes.txt"
    places = listed.read_text(encoding="utf-8").split() if listed.exists() else []
    right = [hit.where for hit in loud if "# cause" in hit.file.line(hit.line) or hit.file.place(hit.line) in places]
    assert bool(right) is (name not in NOT_FOUND), [hit.where for hit in loud]


@pytest.mark.parametrize("name", sorted(path.name for path in HEALTHY.iterdir()))
def test_nothing_is_said_of_a_healthy_program(name: str) -> None:
    result = audit(collect([HEALTHY / name], below=HEALTHY / name).files, RULES)
    assert not result.crashed
    assert [f"{hit.where} {hit.title}" for hit in _loud(result)] == []


def _loud(result: Audit) -> list[Violation]:
    """Returns what is shown without being asked for."""
    return [one.hit for one in result.found if one.hit.confidence is not Confidence.POSSIBLE
            and one.severity >= Severity.WARNING]  # fmt: skip
