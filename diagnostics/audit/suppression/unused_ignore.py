"""A comment that tells the audit to be silent where there is nothing to be silent about.

What it does: looks for `# ups: ignore[...]` comments on whose lines none of the rules named found anything, where all
of them were asked.

Why it matters: the code it excused is gone or was put right; left in place, the comment hides the next fault there.

Bad:
    torch.distributed.barrier()  # ups: ignore[A501] nothing of the kind is here

Good:
    torch.distributed.barrier()

What it cannot see: comments about rules that were not asked, or that crashed on the file.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from diagnostics.audit.rule import Violation
from diagnostics.audit.suppression.ignores import Ignore
from diagnostics.core.findings import Severity

CODE = "A002"
NAME = "unused-ignore"
SEVERITY = Severity.INFO


def hits(unused: Iterable[Ignore]) -> Iterator[Violation]:
    """Yields a hit for each comment that excused nothing."""
    for one in unused:
        named = ", ".join(one.codes)
        yield Violation(
            file=one.file,
            line=one.line,
            column=one.column,
            title=f"{named} finds nothing {'in this file' if one.whole_file else 'here'}: the comment can go",
            fix="delete the comment",
        )
