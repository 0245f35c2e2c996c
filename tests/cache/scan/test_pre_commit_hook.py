"""The pre-commit hook for cache files: it fails on contaminated staged files, and on nothing else."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

PROJECT = Path(__file__).parents[3]
POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a2146\nsize 12345\n"


def hook() -> dict[str, str]:
    hooks = yaml.safe_load((PROJECT / ".pre-commit-hooks.yaml").read_text())
    (found,) = [one for one in hooks if one["id"] == "ups-doctor-scan-cache"]
    return dict(found)


def run(folder: Path, *names: str) -> tuple[int, str]:
    """Does what pre-commit does: the entry with the staged files that `files` matches; none, and it is skipped."""
    chosen = [name for name in names if re.search(hook()["files"], name)]
    if not chosen:
        return 0, "skipped"
    program, *words = hook()["entry"].split()
    argv = [Path(sys.executable).with_name(program), *words, *chosen]
    done = subprocess.run(argv, cwd=folder, capture_output=True, text=True, check=False, timeout=60)
    assert done.stderr == ""
    return done.returncode, done.stdout


@pytest.fixture
def staged(tmp_path: Path, torch_files: Path) -> Path:
    for name in ("clean.pt", "cuda.pt", "unsafe.pt", "array.npy"):
        shutil.copy(torch_files / name, tmp_path)
    (tmp_path / "pointer.pt").write_text(POINTER)
    (tmp_path / "train.py").write_text("print()\n")
    (tmp_path / "words.ckpt.txt").write_text("x")
    return tmp_path


def test_it_is_a_hook_in_python_that_gets_the_names_of_the_files() -> None:
    assert {key: hook().get(key) for key in ("entry", "language", "pass_filenames", "require_serial")} == {
        "entry": "ups-doctor scan-cache --none-ok",
        "language": "python",
        "pass_filenames": None,
        "require_serial": True,
    }


def test_clean_files_pass(staged: Path) -> None:
    assert run(staged, "clean.pt", "array.npy", "train.py")[0] == 0


def test_a_contaminated_file_fails_and_is_named_with_its_repair(staged: Path) -> None:
    code, said = run(staged, "clean.pt", "cuda.pt")
    assert code == 1
    assert "cuda.pt" in said
    assert "cuda:1" in said
    assert "ups-doctor fix-cache" in said


def test_an_unsafe_file_fails(staged: Path) -> None:
    assert run(staged, "unsafe.pt")[0] == 1


def test_files_that_are_no_cache_files_pass(staged: Path) -> None:
    assert run(staged, "train.py", "words.ckpt.txt") == (0, "skipped")


def test_a_pointer_of_git_lfs_is_a_warning_and_passes(staged: Path) -> None:
    code, said = run(staged, "pointer.pt")
    assert (code, "1 of 1 cache files are pointers of Git LFS: their content was not fetched" in said) == (0, True)


def test_without_the_option_nothing_to_scan_is_exit_code_2(staged: Path) -> None:
    program = Path(sys.executable).with_name("ups-doctor")
    for words, code in (([], 2), (["--none-ok"], 0)):
        argv = [program, "scan-cache", *words, "train.py"]
        done = subprocess.run(argv, cwd=staged, capture_output=True, text=True, check=False, timeout=60)
        assert done.returncode == code, done.stderr


def test_a_path_that_is_not_there_is_wrong_use_all_the_same(staged: Path) -> None:
    program = Path(sys.executable).with_name("ups-doctor")
    argv = [program, "scan-cache", "--none-ok", "gone.pt"]
    done = subprocess.run(argv, cwd=staged, capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stdout) == (2, "")
