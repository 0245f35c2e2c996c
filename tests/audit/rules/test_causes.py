"""Programs whose cause of failure stands in their text, written before anything was mended.

Of the first 27, ten were found then; of 20 more, told as people tell such failures in public issue threads, five.
A line that ends with `# cause` is one where a reviewer would comment; one finding at one of them is enough.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from diagnostics.audit.engine import audit
from diagnostics.audit.files import collect
from diagnostics.audit.run import rules_of_files
from diagnostics.core.findings import Confidence, Severity

CAUSES = Path(__file__).parent / "causes"
RULES = rules_of_files()
NOT_FOUND = {"accumulation_ends_uneven", "exception_then_barrier", "polled_and_logged", "threads_before_the_pool"}


@pytest.mark.parametrize("name", sorted(path.name for path in CAUSES.iterdir()))
def test_the_cause_of_a_failure_is_found_at_its_line(name: str) -> None:
    result = audit(collect([CAUSES / name], below=CAUSES / name).files, RULES)
    assert not result.crashed
    loud = [one.hit for one in result.found if one.hit.confidence is not Confidence.POSSIBLE
            and one.severity >= Severity.WARNING]  # fmt: skip
    right = [hit.where for hit in loud if "# cause" in hit.file.line(hit.line)]
    assert bool(right) is (name not in NOT_FOUND), [hit.where for hit in loud]
