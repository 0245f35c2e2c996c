from __future__ import annotations

from pathlib import Path

from diagnostics.cache.file_scan import FileScan, Tally, TensorFact
from diagnostics.cache.scan.one_file import scan_file


def test_a_clean_legacy_file_is_described(torch_files: Path) -> None:
    path = torch_files / "legacy.pt"
    assert scan_file(str(path)) == FileScan(
        path=str(path),
        size=path.stat().st_size,
        code="C102",
        format="torch legacy",
        devices={"cpu": Tally(storages=1, bytes=48)},
        dtypes={"float32": Tally(storages=1, bytes=48)},
        tensors=1,
        facts=(TensorFact(key="latent", dtype="float32", shape=(3, 4), device="cpu", bytes=48, storage_bytes=48),),
    )


def test_a_cuda_tag_in_a_legacy_file_is_named(torch_files: Path) -> None:
    problems = scan_file(str(torch_files / "legacy_cuda.pt")).problems
    assert [problem.name for problem in problems] == ["cuda-in-cache"]
    assert problems[0].observed.startswith("1 storage tagged cuda:3 (key ")


def test_a_legacy_pickle_that_would_run_a_command_is_unsafe(torch_files: Path) -> None:
    problem = scan_file(str(torch_files / "legacy_unsafe.pt")).problems[0]
    assert problem.name == "unsafe-pickle"
    assert problem.observed.startswith("loading it would import posix.system (byte ")


def test_a_legacy_file_cut_at_any_length_is_never_clean(torch_files: Path, tmp_path: Path) -> None:
    whole = (torch_files / "legacy.pt").read_bytes()
    path = tmp_path / "cut.pt"
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        scan = scan_file(str(path))
        # Below 15 bytes nothing says which format it was to become; the name still promises one.
        expected = "truncated-file" if length >= 15 or length == 0 else "corrupt-file"
        assert [problem.name for problem in scan.problems] == [expected], length
