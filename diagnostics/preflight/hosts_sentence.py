"""The verdict over several hosts in one sentence: who is the bad one, or that nobody can be named."""

from __future__ import annotations

from diagnostics.core.findings import Finding, Severity, Verdict
from diagnostics.preflight.probe import Stage


def hosts_sentence(verdict: Verdict, hosts: int) -> str:
    """Returns it; hosts and links that were convicted come first, then who gave no answer, then what else is wrong."""
    found = [finding for outcome in verdict.outcomes if outcome.stage == Stage.HOSTS for finding in outcome.findings]
    errors = [finding for finding in found if finding.severity is Severity.ERROR]
    parts = [
        *_named("cut off: host", errors, "host-cut-off"),
        *_named("cut: the link", errors, "link-cut"),
        *_named("no answer from", errors, "no-answer-from-host"),
    ]
    told = {"host-cut-off", "link-cut", "no-answer-from-host"}
    parts += [finding.title for finding in errors if finding.name not in told]
    if parts:
        more = f"; and {len(parts) - 3} more" if len(parts) > 3 else ""
        return "; ".join(parts[:3]) + more + "."
    if any(outcome.undecided for outcome in verdict.outcomes):
        return "Undecided: a check gave no answer."
    warnings = [finding.title for finding in found if finding.severity is Severity.WARNING]
    if warnings:
        return f"Nothing stops a job on these {hosts} hosts; worth a look: {warnings[0]}."
    return f"The {hosts} hosts are equal in what was asked, and reach each other."


def _named(words: str, errors: list[Finding], name: str) -> list[str]:
    where = [finding.where for finding in errors if finding.name == name]
    shown = ", ".join(where[:6]) + (f" and {len(where) - 6} more" if len(where) > 6 else "")
    return [f"{words}{'s' * (len(where) > 1 and not words.startswith('no'))} {shown}"] if where else []
