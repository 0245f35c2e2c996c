"""A comment that tells the audit to be silent, without saying about which rule or why.

What it does: looks for `# ups: ignore` comments without a code in brackets, with a code that no rule has, without a
reason, and for `# ups: ignore-file` comments far below the top of a file.

Why it matters: an ignore without a code hides what a later rule would find on that line; one without a reason cannot
be judged by whoever reads it next. Such a comment is reported and ignores nothing.

Bad:
    loader = DataLoader(data)  # ups: ignore

Good:
    loader = DataLoader(data)  # ups: ignore[A101] evaluation on one rank, all of the data is wanted

What it cannot see: whether the reason is a good one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from diagnostics.audit.rule import Violation
from diagnostics.audit.suppression.ignores import WRITTEN, Ignore
from diagnostics.core.findings import Severity

CODE = "A001"
NAME = "bad-ignore"
SEVERITY = Severity.WARNING


def hits(ignores: Iterable[Ignore], codes: Iterable[str]) -> Iterator[Violation]:
    """Yields a hit for each comment that means nothing; `codes` are those of all rules."""
    known = tuple(codes)
    for one in ignores:
        unknown = [code for code in one.codes if not any(rule.startswith(code) for rule in known)]
        problem = one.problem or (f"names {unknown[0]}, which no rule has" if unknown else "")
        if problem:
            yield Violation(
                file=one.file,
                line=one.line,
                column=one.column,
                title=f"this comment {problem}: it ignores nothing",
                fix=f"write {WRITTEN.replace('ignore', 'ignore-file') if one.whole_file else WRITTEN}",
            )
