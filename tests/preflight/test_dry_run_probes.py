from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from job_of import config_of

from diagnostics.core.findings import Severity
from diagnostics.machine.contract import Machine
from diagnostics.machine.this import this_machine
from diagnostics.preflight.model import checkpoint_reread, data_wait, dry_run, peak_memory, throughput
from diagnostics.preflight.probe import ProbeResult

JUDGES = (throughput, data_wait, peak_memory, checkpoint_reread)


@pytest.fixture
def machine() -> Iterator[Machine]:
    with this_machine() as found:
        yield found


def test_a_healthy_dry_run_passes_every_judge(machine: Machine, tmp_path: Path) -> None:
    config = config_of("healthy", tmp_path)
    result = dry_run.probe(machine, config)
    assert (result.title, result.findings) == ("6 steps on 2 ranks, 400 samples/s", ())
    titles = [judge.probe(machine, config).title for judge in JUDGES]
    gib = machine.memory.total_bytes() / (1 << 30)
    assert titles == [
        "400 samples/s",
        "10% of each step is spent waiting for data (2 workers a rank)",
        f"2 ranks reached 0.5 GiB together, this machine has {gib:.1f} GiB",
        "the checkpoint of 1,000 bytes was written and read back",
    ]
    assert all(judge.probe(machine, config).findings == () for judge in JUDGES)


def test_a_dry_run_that_fails_gives_its_last_words_and_its_exit_code(machine: Machine, tmp_path: Path) -> None:
    (finding,) = dry_run.probe(machine, config_of("fails", tmp_path)).findings
    assert (finding.name, finding.title) == (
        "dry-run-failed",
        "the dry run ended with exit code 5: loss is nan on rank 1",
    )
    assert finding.evidence[0].observed == "ended with exit code 5\nstep 2\nloss is nan on rank 1"


def test_a_dry_run_that_says_nothing_is_a_failure_too(machine: Machine, tmp_path: Path) -> None:
    (finding,) = dry_run.probe(machine, config_of("silent", tmp_path)).findings
    assert finding.title == "the dry run ended with exit code 0, but left no result: it said nothing"


def test_a_dry_run_without_a_step_is_zero_progress(machine: Machine, tmp_path: Path) -> None:
    (finding,) = dry_run.probe(machine, config_of("no-steps", tmp_path)).findings
    assert (finding.name, finding.severity) == ("zero-progress", Severity.ERROR)


@pytest.mark.parametrize(
    ("fault", "judge", "name", "severity", "title"),
    [
        (
            "starved",
            data_wait,
            "data-starved",
            Severity.WARNING,
            "62% of each step is spent waiting for data (2 workers a rank)",
        ),
        (
            "lost-checkpoint",
            checkpoint_reread,
            "corrupt-checkpoint",
            Severity.ERROR,
            "the checkpoint of 1,000 bytes could not be read back: it differs in optimizer.state",
        ),
    ],
)
def test_what_the_dry_run_measured_is_judged(
    machine: Machine, tmp_path: Path, fault: str, judge: object, name: str, severity: Severity, title: str
) -> None:
    config = config_of(fault, tmp_path)
    dry_run.probe(machine, config)
    (finding,) = judge.probe(machine, config).findings  # type: ignore[attr-defined]
    assert (finding.name, finding.severity, finding.title) == (name, severity, title)


def test_ranks_that_need_more_memory_than_there_is_are_a_warning(machine: Machine, tmp_path: Path) -> None:
    config = config_of("greedy", tmp_path)
    dry_run.probe(machine, config)
    (finding,) = peak_memory.probe(machine, config).findings
    assert (finding.name, finding.severity) == ("host-memory-tight", Severity.WARNING)


def test_a_throughput_far_below_the_last_good_run_is_a_warning(machine: Machine, tmp_path: Path) -> None:
    config = config_of("healthy", tmp_path)
    dry_run.probe(machine, config)
    job = throughput.probe(machine, config).measured["job"]
    far = replace(config, last_good={"P802": {"samples_per_s": 1300.0, "job": job}})
    (finding,) = throughput.probe(machine, far).findings
    assert (finding.name, finding.title) == ("slower-than-before", "400 samples/s, the last good run had 1300")
    near = replace(config, last_good={"P802": {"samples_per_s": 1100.0, "job": job}})
    assert throughput.probe(machine, near) == ProbeResult(
        title="400 samples/s, the last good run had 1100", measured={"samples_per_s": 400.0, "job": job}
    )


@pytest.mark.parametrize("change", ["overrides", "place", "content", "module", "gone"])
def test_the_throughput_of_another_job_is_no_measure(change: str, machine: Machine, tmp_path: Path) -> None:
    config = config_of("healthy", tmp_path)
    dry_run.probe(machine, config)
    job = throughput.probe(machine, config).measured["job"]
    before = replace(config, last_good={"P802": {"samples_per_s": 9000.0, "job": job}})
    assert before.job is not None
    copied = tmp_path / "other.txt"
    copied.write_text("healthy")
    if change == "content":
        before.job.config.write_text("healthy\n# and another model\n")
    if change == "gone":
        before.job.config.unlink()
    changed = {
        "overrides": replace(before.job, overrides=("model=large",)),
        "place": replace(before.job, config=copied),
        "module": replace(before.job, module="another_job"),
    }
    other = replace(before, job=changed.get(change, before.job))
    assert (throughput.probe(machine, other).title, throughput.probe(machine, other).findings) == ("400 samples/s", ())


def test_the_ranks_asked_of_preflight_are_those_of_the_dry_run(machine: Machine, tmp_path: Path) -> None:
    config = replace(config_of("healthy", tmp_path), nproc=3)
    assert dry_run.probe(machine, config).title == "6 steps on 3 ranks, 400 samples/s"
