"""The verdict in one sentence, then what was examined."""

from __future__ import annotations

from diagnostics.core.findings import Severity, Status, Verdict
from diagnostics.core.markdown import code, inline
from diagnostics.report.check_report import CheckReport

ORDER = 0
TITLE = "Preflight report"

VERDICTS = {
    0: "Nothing stands against training here.",
    1: "Training will not work here as it is: see the findings below.",
    3: "Undecided: some checks crashed or gave no answer, so nothing is proven about what they look at.",
}


def render(report: CheckReport) -> list[str]:
    """Returns the verdict, the counts and the facts."""
    return [f"**{inline(_sentence(report))}**", "", _counts(report.verdict), "", *_facts(report)]


def _sentence(report: CheckReport) -> str:
    if report.interrupted:
        return "Interrupted: this is what was found before that."
    if all(outcome.status is Status.SKIPPED for outcome in report.verdict.outcomes):
        return "Nothing was checked."
    if report.sentence:
        return report.sentence
    if report.exit_code == 1 and not report.verdict.errors:
        return "Warnings were found, and --strict counts them as errors."
    sentence = VERDICTS[report.exit_code]
    warnings = any(finding.severity is Severity.WARNING for finding in report.verdict.findings)
    return f"{sentence} There are warnings." if report.exit_code == 0 and warnings else sentence


def _counts(verdict: Verdict) -> str:
    passed = sum(outcome.passed for outcome in verdict.outcomes)
    skipped = sum(outcome.status is Status.SKIPPED for outcome in verdict.outcomes)
    numbers = {
        "check": len(verdict.outcomes),
        "error": len(verdict.errors),
        "warning": sum(finding.severity is Severity.WARNING for finding in verdict.findings),
    }
    counted = [f"{number} {name}{'s' * (number != 1)}" for name, number in numbers.items()]
    rest = [f"{passed} passed", f"{len(verdict.undecided)} undecided", f"{skipped} skipped"]
    return ", ".join([counted[0], *rest, *counted[1:]]) + f"; {verdict.seconds:.1f} s"


def _facts(report: CheckReport) -> list[str]:
    facts = {**report.facts, "started": report.started, "ups-doctor": report.doctor_version}
    return [f"- {inline(name)}: {code(value)}" for name, value in facts.items()]
