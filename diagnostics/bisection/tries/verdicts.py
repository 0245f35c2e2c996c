"""One Trial from what the ranks of one run left, and one from several runs. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from diagnostics.bisection.case import Case
from diagnostics.bisection.trial import Failure, Trial
from diagnostics.bisection.tries.failures import failure_of
from diagnostics.bisection.tries.rank_runs import RankRun
from diagnostics.bisection.tries.tries_file import read_node
from diagnostics.core.redaction import text


def trial_of(case: Case, runs: Sequence[RankRun], seconds: float) -> Trial:
    """Returns what one run gave."""
    answers = [run.answer for run in runs if run.answer is not None]
    refused = next((answer for answer in answers if answer.refusal), None)
    failure = failure_of(runs, cwd=str(Path.cwd())) if refused is None else None
    tree = next((answer.tree for answer in answers if answer.tree), ())
    return Trial(
        case=case,
        failure=failure,
        refusal=text(refused.refusal) if refused is not None else "",
        hint=text(refused.hint) if refused is not None else "",
        seconds=round(seconds, 3),
        failed=int(failure is not None),
        tree=tuple(read_node(node) for node in tree),
        torch=answers[0].torch if answers else "",
    )


def one_verdict(runs: Sequence[Trial], sought: Failure | None) -> Trial:
    """Returns one trial for all runs: of several ways to fail the one that is sought, else the most frequent."""
    failures = [run.failure for run in runs if run.failure is not None]
    wanted = [failure for failure in failures if sought is not None and failure.same_as(sought)]
    shown = wanted[0] if wanted else max(failures, key=lambda one: sum(map(one.same_as, failures)), default=None)
    first = next((run for run in runs if run.refusal or (shown is not None and run.failure is shown)), runs[0])
    return replace(
        first,
        failure=shown,
        seconds=round(sum(run.seconds for run in runs) / len(runs), 3),
        runs=len(runs),
        failed=sum(shown.same_as(failure) for failure in failures) if shown is not None else 0,
        tree=max((run.tree for run in runs), key=len),
    )
