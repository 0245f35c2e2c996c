from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from job_of import config_of

from diagnostics.core.findings import Severity
from diagnostics.machine.contract import Machine
from diagnostics.machine.facts import ChildTimeout
from diagnostics.machine.this import this_machine
from diagnostics.preflight.data import cache_scan
from diagnostics.preflight.probe import PreflightConfig, Skip


@pytest.fixture
def machine() -> Iterator[Machine]:
    with this_machine() as found:
        yield found


def with_cache(tmp_path: Path, *folders: Path, deadline_s: float = 30.0) -> PreflightConfig:
    config = config_of("healthy", tmp_path, deadline_s=deadline_s)
    assert config.job is not None
    return replace(config, job=replace(config.job, cache_dirs=folders))


def test_a_cache_that_is_not_there_yet_has_nothing_to_scan(machine: Machine, tmp_path: Path) -> None:
    result = cache_scan.probe(machine, with_cache(tmp_path, tmp_path / "cache"))
    assert (result.title, result.findings) == (f"no cache yet at {tmp_path}/cache: nothing to scan", ())


def test_an_empty_cache_folder_passes(machine: Machine, tmp_path: Path) -> None:
    (tmp_path / "cache").mkdir()
    result = cache_scan.probe(machine, with_cache(tmp_path, tmp_path / "cache"))
    assert (result.title, result.findings) == (f"no cache file yet in {tmp_path}/cache", ())


def test_a_clean_cache_passes_and_a_cut_one_is_named(machine: Machine, tmp_path: Path) -> None:
    folder = tmp_path / "cache"
    folder.mkdir()
    np.save(folder / "train_u.npy", np.zeros((8, 8), dtype=np.float32))
    clean = cache_scan.probe(machine, with_cache(tmp_path, folder))
    assert (clean.title, clean.findings) == (f"1 cache files of 384 bytes clean in {folder}", ())

    whole = (folder / "train_u.npy").read_bytes()
    (folder / "train_u.npy").write_bytes(whole[:200])
    (finding,) = cache_scan.probe(machine, with_cache(tmp_path, folder)).findings
    assert (finding.code, finding.name, finding.severity) == ("P601", "truncated-file", Severity.ERROR)
    assert finding.where == f"{folder}/train_u.npy"
    assert [(item.observed, item.expected) for item in finding.evidence] == [
        ("200 bytes", "384 bytes for shape (8, 8)")
    ]
    assert finding.fix is not None
    assert finding.fix.commands == (f"ups-doctor scan-cache {folder}",)


def test_a_scan_past_its_deadline_is_a_timeout(machine: Machine, tmp_path: Path) -> None:
    (tmp_path / "cache").mkdir()
    with pytest.raises(ChildTimeout):
        cache_scan.probe(machine, with_cache(tmp_path, tmp_path / "cache", deadline_s=0.01))


def test_a_job_without_a_cache_is_skipped(machine: Machine, tmp_path: Path) -> None:
    with pytest.raises(Skip, match="this configuration uses no cache"):
        cache_scan.probe(machine, with_cache(tmp_path))
