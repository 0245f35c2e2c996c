from __future__ import annotations

import shutil
from pathlib import Path

from diagnostics.cache.scan.engine import scan


def folder_with(torch_files: Path, tmp_path: Path, *empty: str) -> Path:
    for number in range(3):
        shutil.copy(torch_files / "odd.bin", tmp_path / f"sample_{number}.bin")
    for name in empty:
        (tmp_path / name).touch()
    return tmp_path


def test_an_empty_file_among_its_siblings_is_an_error(torch_files: Path, tmp_path: Path) -> None:
    result = scan([folder_with(torch_files, tmp_path, "sample_3.bin", "sample_4.bin")])
    found = [finding for finding in result.findings if finding.code == "C155"]
    assert [(one.title, one.where, one.evidence[0].observed) for one in found] == [
        (
            "2 file(s) are empty among cache files of the same naming",
            f"{tmp_path}/sample_3.bin",
            "0 bytes: sample_3.bin, sample_4.bin",
        )
    ]
    assert result.exit_code == 1


def test_marks_and_notes_may_be_empty(torch_files: Path, tmp_path: Path) -> None:
    folder = folder_with(torch_files, tmp_path, "_SUCCESS", ".gitkeep", "__init__.py", "part_0.done", "log.0")
    assert [finding.code for finding in scan([folder]).findings if finding.code == "C155"] == []


def test_an_empty_file_in_another_folder_is_no_sibling(torch_files: Path, tmp_path: Path) -> None:
    folder = folder_with(torch_files, tmp_path)
    (folder / "other").mkdir()
    (folder / "other" / "sample_3.bin").touch()
    assert [finding.code for finding in scan([folder]).findings if finding.code == "C155"] == []
