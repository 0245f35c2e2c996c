from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from job_of import config_of

from diagnostics.core.findings import Severity
from diagnostics.machine.contract import Machine
from diagnostics.machine.facts import ChildTimeout
from diagnostics.machine.this import this_machine
from diagnostics.preflight.data import data_files_readable, epochs_reshuffled, samples_disjoint
from diagnostics.preflight.probe import PreflightConfig, ProbeResult, Skip


@pytest.fixture(scope="module")
def machine() -> Iterator[Machine]:
    with this_machine() as found:
        yield found


def read(machine: Machine, config: PreflightConfig) -> ProbeResult:
    return data_files_readable.probe(machine, config)


def told(result: ProbeResult) -> list[tuple[str, str, str]]:
    return [(finding.name, finding.title, finding.where) for finding in result.findings]


def test_a_healthy_job_passes_all_data_probes(machine: Machine, tmp_path: Path) -> None:
    config = config_of("healthy", tmp_path)
    assert read(machine, config) == ProbeResult(
        title="12 samples, read by 2 ranks with 2 workers each in 0.1 s",
        measured={"dataset_size": 12, "read_seconds": 0.1},
    )
    assert samples_disjoint.probe(machine, config) == ProbeResult(
        title="each of 12 samples is read once an epoch, by one of 2 ranks", measured={"dataset_size": 12}
    )
    assert epochs_reshuffled.probe(machine, config) == ProbeResult(
        title="2 ranks read the samples in another order each epoch"
    )


def test_ranks_without_a_distributed_sampler_are_duplicate_data(machine: Machine, tmp_path: Path) -> None:
    config = config_of("no-sampler", tmp_path)
    read(machine, config)
    found = samples_disjoint.probe(machine, config)
    assert told(found) == [
        ("duplicate-data", "all 2 ranks read the same 12 samples: no distributed sampler is at work", "ranks 0, 1")
    ]
    assert found.findings[0].severity is Severity.ERROR
    assert found.findings[0].evidence[0].observed == "sample 0 is read 2 times, by ranks 0, 1"
    assert epochs_reshuffled.probe(machine, config).findings == ()


def test_the_padding_of_a_last_batch_is_a_warning(machine: Machine, tmp_path: Path) -> None:
    config = config_of("padded", tmp_path)
    read(machine, config)
    duplicate, missing = samples_disjoint.probe(machine, config).findings
    assert (duplicate.name, duplicate.severity, duplicate.where) == (
        "duplicate-data",
        Severity.WARNING,
        "ranks 0, 1",
    )
    assert missing.name == "missing-data"


def test_samples_that_no_rank_reads_are_counted_and_named(machine: Machine, tmp_path: Path) -> None:
    config = config_of("half-missing", tmp_path)
    read(machine, config)
    (finding,) = samples_disjoint.probe(machine, config).findings
    assert (finding.name, finding.severity) == ("missing-data", Severity.ERROR)
    assert finding.title.startswith("6 of 12 samples are read by no rank in epoch 0: ")
    assert finding.evidence[0].observed == "rank 0: 3; rank 1: 3"


def test_samples_that_are_due_in_shares_are_held_to_their_plan(machine: Machine, tmp_path: Path) -> None:
    kept = config_of("in-shares", tmp_path)
    read(machine, kept)
    assert samples_disjoint.probe(machine, kept) == ProbeResult(
        title="each of 12 samples is read as often as planned, by one of 2 ranks", measured={"dataset_size": 12}
    )
    broken = config_of("in-shares-not", tmp_path)
    read(machine, broken)
    found = samples_disjoint.probe(machine, broken)
    assert [(finding.name, finding.title) for finding in found.findings] == [
        ("duplicate-data", "1 of 12 samples are read more than planned: 1 (the padding of the last batch)"),
        ("missing-data", "1 of 12 samples are read less often than planned in epoch 0: 0"),
    ]


def test_ranks_that_see_different_data_are_named(machine: Machine, tmp_path: Path) -> None:
    config = config_of("other-files", tmp_path)
    read(machine, config)
    assert told(samples_disjoint.probe(machine, config)) == [
        ("data-differs", "rank 1 saw 10 samples, the others 12", "rank 1")
    ]


def test_epochs_without_set_epoch_are_named(machine: Machine, tmp_path: Path) -> None:
    config = config_of("no-set-epoch", tmp_path)
    read(machine, config)
    (finding,) = epochs_reshuffled.probe(machine, config).findings
    assert (finding.name, finding.severity) == ("missing-set-epoch", Severity.ERROR)
    assert finding.title == "ranks 0, 1 read the samples in the same order every epoch"
    assert samples_disjoint.probe(machine, config).findings == ()


def test_a_loader_that_does_not_shuffle_at_all_is_a_warning(machine: Machine, tmp_path: Path) -> None:
    config = config_of("unshuffled", tmp_path)
    read(machine, config)
    (finding,) = epochs_reshuffled.probe(machine, config).findings
    assert (finding.severity, finding.title) == (
        Severity.WARNING,
        "ranks 0, 1 read the samples in the order of the file, unshuffled, every epoch",
    )


def test_a_missing_file_is_named_with_the_trainers_own_remedy(machine: Machine, tmp_path: Path) -> None:
    (finding,) = read(machine, config_of("missing-file", tmp_path)).findings
    assert (finding.name, finding.title, finding.where) == (
        "data-file-missing",
        "there is no data file /data/train.h5",
        "/data/train.h5",
    )
    assert finding.fix is not None
    assert finding.fix.text == "make-data --config CONFIG"
    assert finding.evidence[0].observed == "ranks 0, 1: there is no data file /data/train.h5"


def test_a_rank_that_is_killed_while_reading_is_named_with_its_signal(machine: Machine, tmp_path: Path) -> None:
    assert told(read(machine, config_of("dies", tmp_path))) == [
        ("data-reader-failed", "rank 1 was ended by signal 9 while it read the data: it said nothing", "rank 1")
    ]


def test_a_rank_that_raises_while_reading_is_named_with_its_last_line(machine: Machine, tmp_path: Path) -> None:
    assert told(read(machine, config_of("raises", tmp_path))) == [
        (
            "data-reader-failed",
            "rank 1 ended with exit code 1 while it read the data: ValueError: sample 7 has no label",
            "rank 1",
        )
    ]


def test_a_rank_that_hangs_while_reading_is_a_timeout(machine: Machine, tmp_path: Path) -> None:
    with pytest.raises(ChildTimeout, match=r"^rank 1 did not read the data within 2 s"):
        read(machine, config_of("hangs", tmp_path, deadline_s=2.0))


def test_a_configuration_that_the_trainer_refuses_is_told_in_its_words(machine: Machine, tmp_path: Path) -> None:
    config = config_of("refuses", tmp_path)
    assert told(read(machine, config)) == [
        (
            "config-refused",
            "unknown key 'bacth_size' in job.yaml:3; did you mean 'batch_size'?",
            str(tmp_path / "job.txt"),
        )
    ]


@pytest.mark.parametrize("module", [data_files_readable, samples_disjoint, epochs_reshuffled])
def test_without_a_config_the_data_probes_are_skipped(machine: Machine, tmp_path: Path, module: object) -> None:
    config = PreflightConfig(
        python="python", nproc=2, backend="gloo", record_dir=tmp_path, thresholds=config_of("", tmp_path).thresholds
    )
    with pytest.raises(Skip, match="needs a CONFIG"):
        module.probe(machine, config)  # type: ignore[attr-defined]
