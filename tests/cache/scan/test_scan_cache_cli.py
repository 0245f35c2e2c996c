from __future__ import annotations

import json
import os
import shutil
import zipfile
from pathlib import Path

import pytest
from click.testing import CliRunner

from diagnostics.cache.file_scan import FileScan
from diagnostics.cache.scan.engine import scan
from diagnostics.cache.scan.one_file import scan_file
from diagnostics.commands.scan_cache import command
from diagnostics.core.errors import UsageError


def folder_with(torch_files: Path, tmp_path: Path, *names: str) -> Path:
    for name in names:
        shutil.copy(torch_files / name, tmp_path / name)
    return tmp_path


def printed(*arguments: str) -> tuple[int, list[str]]:
    result = CliRunner().invoke(command, arguments)
    lines = [line.partition(" (0.")[0] if " s)" in line else line for line in result.stdout.splitlines()]
    return result.exit_code, lines


def test_a_clean_folder_is_told_in_four_lines(torch_files: Path, tmp_path: Path) -> None:
    folder = folder_with(torch_files, tmp_path, "clean.pt", "legacy.pt")
    (folder / "manifest.json").write_text("{}")
    assert printed(str(folder)) == (
        0,
        [
            f"2 of 2 cache files clean, {sum(p.stat().st_size for p in folder.glob('*.pt')) / 1024:.1f} KiB, 2 tensors",
            "devices: cpu 96 B in 2 storages of 2 files",
            "types:   float32 96 B in 2 storages",
            "formats: 1 torch legacy, 1 torch zip; left out: 1 not a cache format known here",
        ],
    )


def test_a_contaminated_folder_names_file_storage_and_remedy(torch_files: Path, tmp_path: Path) -> None:
    folder = folder_with(torch_files, tmp_path, "clean.pt", "cuda.pt")
    code, lines = printed(str(folder))
    size = sum(p.stat().st_size for p in folder.glob("*.pt")) / 1024
    place = scan_file(str(folder / "cuda.pt")).problems[0].place
    assert code == 1
    assert lines == [
        "FAIL  C101  1 of 2 cache files carry tags of cuda:1: "
        "a machine without that device, or a forked worker, fails on them",
        f"            read: {folder}/cuda.pt, {place}: 1 storage tagged cuda:1 (key 0 = latent) (expected cpu)",
        "            fix:  rewrite the tags to cpu; no tensor is read or copied for it, and no GPU is needed",
        f"                  ups-doctor fix-cache {folder}",
        "",
        f"1 of 2 cache files is bad, {size / 2:.1f} KiB of {size:.1f} KiB, 2 tensors",
        *[line for line in lines if line.startswith("keys: ")],
        f"do:      ups-doctor fix-cache {folder}",
        "devices: cpu 48 B in 1 storage of 1 file, cuda:1 48 B in 1 storage of 1 file",
        "types:   float32 96 B in 2 storages",
        "formats: 2 torch zip",
        "explain: ups-doctor explain C101",
    ]


def test_json_holds_every_number_and_the_bad_file(torch_files: Path, tmp_path: Path) -> None:
    folder = folder_with(torch_files, tmp_path, "mixed.pt")
    result = CliRunner().invoke(command, ["--json", str(folder)])
    answer = json.loads(result.stdout)
    assert result.exit_code == answer["exit_code"] == 1
    assert answer["devices"] == {"cpu": {"storages": 1, "bytes": 6}, "cuda:0": {"storages": 1, "bytes": 40}}
    assert [item["path"] for item in answer["bad_files"]] == [f"{folder}/mixed.pt"]
    assert [item["name"] for item in answer["findings"]] == ["cuda-in-cache"]


def test_a_path_that_does_not_exist_is_a_usage_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as error:
        scan([tmp_path / "absent"])
    assert (error.value.exit_code, error.value.message) == (2, f"{tmp_path}/absent: no such file or folder")


def test_a_folder_without_cache_files_ends_with_two(tmp_path: Path) -> None:
    (tmp_path / "readme.txt").write_text("nothing")
    assert printed(str(tmp_path)) == (2, ["no cache file among 1 file"])


def test_a_glob_names_its_files(torch_files: Path, tmp_path: Path) -> None:
    folder = folder_with(torch_files, tmp_path, "clean.pt", "cuda.pt")
    assert scan([folder / "cl*.pt"]).exit_code == 0


def test_a_control_character_of_a_file_name_never_reaches_the_terminal(torch_files: Path, tmp_path: Path) -> None:
    shutil.copy(torch_files / "cuda.pt", tmp_path / "evil\x1b[2J\nü.pt")
    _, lines = printed(str(tmp_path))
    assert "\x1b" not in "".join(lines)
    assert f"{tmp_path}/evil\\x1b[2J\\nü.pt" in "".join(lines)


def test_many_processes_find_what_one_finds(torch_files: Path, tmp_path: Path) -> None:
    for number in range(2100):
        source = "cuda.pt" if number % 700 == 0 else "clean.pt"
        os.link(torch_files / source, tmp_path / f"sample_{number:05d}.pt")
    alone, together = scan([tmp_path], jobs=1), scan([tmp_path], jobs=2)
    assert (alone.files, alone.bad, alone.device_files) == (2100, 3, {"cpu": 2097, "cuda:1": 3})
    assert (together.files, together.findings, together.bad_files) == (alone.files, alone.findings, alone.bad_files)


def test_an_interrupt_keeps_what_was_found_so_far(torch_files: Path, tmp_path: Path) -> None:
    class Interrupting:
        def scanned(self, files: int, bad: int) -> None:
            if files == 1:
                raise KeyboardInterrupt

        def found(self, scan: FileScan) -> None:
            raise AssertionError("the first file is clean")

    folder = folder_with(torch_files, tmp_path, "clean.pt", "cuda.pt")
    result = scan([folder], observer=Interrupting())
    assert (result.files, result.interrupted, result.exit_code) == (1, True, 130)


def test_a_named_pipe_in_the_folder_is_passed_over(torch_files: Path, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.pt")
    shutil.copy(torch_files / "clean.pt", tmp_path)
    assert scan([tmp_path]).skipped == {"not a regular file": 1}


def test_a_whole_zip_of_something_else_is_not_called_cut_off(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "report.pt", "w") as archive:
        archive.writestr("a.txt", "x")
    (problem,) = scan_file(str(tmp_path / "report.pt")).problems
    assert problem.name == "corrupt-file"
    assert problem.observed == "109 bytes; it is a whole zip archive of something else"
    (tmp_path / "cut.pt").write_bytes((tmp_path / "report.pt").read_bytes()[:-30])
    (problem,) = scan_file(str(tmp_path / "cut.pt")).problems
    assert problem.name == "truncated-file"


def test_a_file_that_cannot_be_read_has_a_place_in_the_summary(tmp_path: Path) -> None:
    (tmp_path / "loop.pt").symlink_to("loop.pt")
    code, lines = printed(str(tmp_path))
    assert (code, lines[-2]) == (1, "formats: 1 that nobody could look into")


def test_an_empty_path_is_wrong_use_and_not_the_current_folder() -> None:
    result = CliRunner().invoke(command, ["data", ""])
    assert isinstance(result.exception, UsageError)
    assert str(result.exception) == "one of the paths is empty: a variable that is not set?"
