"""The data cannot be read by the ranks and their workers.

What it does: starts the configured number of ranks; each opens the data through the trainer's own reader
and loader with the configured workers, reads some batches, and reports each file that fails: missing,
cut off, of another layout, or with values that are not finite. The other data probes judge the sample
indices that the ranks report here.

Why it matters: a file that one rank cannot read ends that rank; the others wait in the next collective
until its timeout, and name the wrong culprit. A NaN in one sample turns every parameter into NaN.

Example: `reports/data/1D_Advection_Sols_beta0.4.hdf5 is truncated: it is 400 bytes long and says that it holds
8912`.

Fix: make or copy the named file again; for generated data `ups data generate --config CONFIG`.
"""

from __future__ import annotations

from collections.abc import Sequence

from diagnostics.adapter.answers import (
    USAGE_EXIT,
    DataAnswer,
    FileTrouble,
    adapter_argv,
    data_answers,
    read_answer,
    refusal,
)
from diagnostics.adapter.description import JobDescription
from diagnostics.core.findings import Evidence, Finding, Fix, Severity
from diagnostics.core.wording import last_line, last_lines, sentence_of, shown_ranks
from diagnostics.machine.contract import Machine
from diagnostics.machine.facts import ChildTimeout, RankResult
from diagnostics.preflight import adapter_ranks
from diagnostics.preflight.probe import PreflightConfig, ProbeResult, Skip, Stage

CODE = "P602"
NAME = "data-files-readable"
STAGE = Stage.DATA
REQUIRES: tuple[str, ...] = ()


def probe(machine: Machine, config: PreflightConfig) -> ProbeResult:
    """Returns one finding a file that fails, or one for the ranks that ended without an answer."""
    if config.job is None:
        raise Skip("needs a CONFIG")
    argv = adapter_argv(config.python, config.job, "data", "--result", str(read_answer(config.record_dir, "data")))
    deadline_s = config.thresholds.data_deadline_s
    ranks = adapter_ranks.run(machine, config, argv, deadline_s=deadline_s, env=config.job.env)
    answers = [answer for answer in data_answers(config.record_dir, config.nproc) if answer is not None]
    troubles = _by_trouble(answers)
    if not troubles:
        _stop_if_late(ranks, deadline_s)
        if findings := _failed(ranks, config.job, argv):
            return ProbeResult(title="", findings=findings)
    findings = tuple(_trouble(file, who, argv) for file, who in troubles.items())
    return ProbeResult(title=_title(answers), findings=findings, measured=_measured(answers))


def _by_trouble(answers: Sequence[DataAnswer]) -> dict[FileTrouble, list[int]]:
    found: dict[FileTrouble, list[int]] = {}
    for answer in answers:
        for file in answer.files:
            found.setdefault(file, []).append(answer.rank)
    return found


def _stop_if_late(ranks: Sequence[RankResult], deadline_s: float) -> None:
    late = [rank for rank in ranks if rank.timed_out]
    if late:
        said = last_line(late[0].stderr)
        raise ChildTimeout(
            f"{shown_ranks([rank.rank for rank in late])} did not read the data within {deadline_s:g} s"
            + (f"; last output: {said}" if said else "")
        )


def _failed(ranks: Sequence[RankResult], job: JobDescription, argv: Sequence[str]) -> tuple[Finding, ...]:
    # A rank that the doctor ended because another one had failed is a victim.
    bad = [rank for rank in ranks if rank.returncode != 0 and not rank.ended]
    if not bad:
        return ()
    first = next((rank for rank in bad if rank.returncode == USAGE_EXIT), bad[0])
    refused = first.returncode == USAGE_EXIT
    how = f"was ended by signal {first.signal}" if first.signal else f"ended with exit code {first.returncode}"
    said = sentence_of(first.stderr) or "it said nothing"
    sentence, hint = refusal(first.stderr)
    return (
        Finding(
            code=CODE,
            name="config-refused" if refused else "data-reader-failed",
            severity=Severity.ERROR,
            title=sentence if refused else f"rank {first.rank} {how} while it read the data: {said}",
            where=str(job.config) if refused else shown_ranks([rank.rank for rank in bad]),
            evidence=(
                Evidence(
                    source=" ".join(argv),
                    observed=f"{how}\n{last_lines(first.stderr)}",
                    expected=f"exit code 0 on {len(ranks)} ranks",
                ),
            ),
            fix=Fix(text=(refused and hint) or "correct what the message names, then run preflight again"),
        ),
    )


def _trouble(file: FileTrouble, ranks: list[int], argv: Sequence[str]) -> Finding:
    names = {"missing": "data-file-missing", "truncated": "truncated-file", "nan": "nan-in-data"}
    return Finding(
        code=CODE,
        name=names.get(file.kind, "data-file-unreadable"),
        severity=Severity.ERROR,
        title=file.error,
        where=file.path,
        evidence=(
            Evidence(
                source=" ".join(argv),
                observed=f"{shown_ranks(ranks)}: {file.error}",
                expected="a data file that every rank can read",
            ),
        ),
        fix=Fix(text=file.fix) if file.fix else None,
    )


def _title(answers: Sequence[DataAnswer]) -> str:
    if not answers:
        return "the ranks gave no answer"
    size, workers = max(answer.dataset_size for answer in answers), max(answer.workers for answer in answers)
    how = f"{workers} workers each" if workers else "no workers"
    seconds = max(answer.seconds for answer in answers)
    return f"{size} samples, read by {len(answers)} ranks with {how} in {seconds:.1f} s"


def _measured(answers: Sequence[DataAnswer]) -> dict[str, float]:
    return {
        "dataset_size": max((answer.dataset_size for answer in answers), default=0),
        "read_seconds": max((answer.seconds for answer in answers), default=0.0),
    }
