"""What a user of `ups-doctor fix-cache` sees and gets, with real files, processes, terminals and file systems."""

from __future__ import annotations

import hashlib
import json
import re
import shlex
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

Fix = Callable[..., "subprocess.CompletedProcess[str]"]


def contents(folder: Path) -> dict[str, str]:
    """Returns a checksum of every file, by its name."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def steady(text: str) -> list[str]:
    """Returns the lines with what differs between runs taken out."""
    text = re.sub(r"\(\d+\.\d s", "(T s", text)
    text = re.sub(r"\d+(\.\d)? (B|KiB|MiB|GiB|TiB)\b", "SIZE", text)
    text = re.sub(r"reports/\d{8}-\d{6}-", "reports/TIME-", text)
    return text.splitlines()


def save_big(path: Path) -> None:
    """Writes 586 KiB in the old format, which only a copy repairs."""
    real = torch.serialization.location_tag
    torch.serialization.location_tag = lambda storage: "cuda:0"
    try:
        torch.save({"x": torch.zeros(150_000)}, path, _use_new_zipfile_serialization=False)
    finally:
        torch.serialization.location_tag = real


PLAN = [
    "5 of 7 cache files bad, SIZE (T s)",
    "  cuda:0 in 1 file, cuda:1 in 1 file, cuda:3 in 1 file, truncated-file: 1, unsafe-pickle: 1",
    "",
    "  append         2  SIZE behind the files' old ends; no byte of a tensor is read or moved",
    "  copy           1  SIZE written anew, each renamed when it is whole",
    "  move           2  to quarantine/cache; nothing is deleted",
    "      cache/val/cut.pt: no end record in the last 900 bytes: the file was cut off",
    "      cache/val/unsafe.pt: loading it would import posix.system (byte 176)",
    "",
    "writes SIZE, about 1 s, 4 files at a time",
    "needs SIZE free in cache, SIZE of it only for a while; SIZE are free",
    "no backup: no byte of a tensor changes (--backup DIR keeps the originals)",
]


def test_a_dry_run_shows_the_plan_and_changes_nothing(cache: Path, fix: Fix) -> None:
    before = contents(cache.parent)
    done = fix("--dry-run", "cache", "--jobs", "4")
    assert (done.returncode, done.stderr) == (1, "")
    assert steady(done.stdout) == PLAN
    assert contents(cache.parent) == before


def test_the_repair_leaves_only_clean_files_whose_tensors_are_the_same(cache: Path, fix: Fix) -> None:
    old = {name: torch.load(cache / name, map_location="cpu") for name in ("cuda.pt", "legacy_cuda.pt", "val/mixed.pt")}
    untouched = {name: (cache / name).read_bytes() for name in ("clean.pt", "array.npy", "notes.txt")}
    done = fix("--yes", "cache", "--jobs", "4")
    assert (done.returncode, done.stderr) == (0, "")
    assert steady(done.stdout) == [
        *PLAN,
        "",
        "3 repaired, 2 moved (T s, SIZE written)",
        "5 of 5 cache files clean now, 5 were bad",
        "report: reports/TIME-fix-cache/report.md",
    ]
    for name, value in old.items():
        new = torch.load(cache / name, weights_only=True)
        assert str(new) == str(value)
    assert {name: (cache / name).read_bytes() for name in untouched} == untouched


def test_a_repaired_folder_needs_nothing_more(cache: Path, fix: Fix) -> None:
    fix("--yes", "cache")
    done = fix("--yes", "cache")
    assert (done.returncode, steady(done.stdout)) == (0, ["5 of 5 cache files clean, SIZE (T s)"])
    assert fix("--dry-run", "cache").returncode == 0


def test_without_a_terminal_and_without_yes_nothing_is_looked_at(cache: Path, fix: Fix) -> None:
    done = fix("cache")
    assert (done.returncode, done.stdout, done.stderr) == (
        2,
        "",
        "error: there is no terminal to ask on: "
        "--yes repairs without asking, --dry-run only shows what would be done\n",
    )


def test_json_holds_plan_outcomes_and_both_counts(cache: Path, fix: Fix) -> None:
    done = fix("--yes", "--json", "cache")
    body = json.loads(done.stdout)
    assert done.returncode == body["exit_code"] == 0
    assert (body["before"]["bad"], body["after"]["bad"], body["interrupted"]) == (5, 0, False)
    actions = {Path(item["path"]).name: (item["action"], item["status"]) for item in body["outcomes"]}
    assert actions == {
        "cuda.pt": ("append", "done"),
        "legacy_cuda.pt": ("copy", "done"),
        "mixed.pt": ("append", "done"),
        "cut.pt": ("quarantine", "done"),
        "unsafe.pt": ("quarantine", "done"),
    }
    assert steady(done.stderr)[0] == "5 of 7 cache files bad, SIZE (T s)"


def test_the_report_compares_before_and_after_and_names_each_file(cache: Path, fix: Fix) -> None:
    fix("--yes", "cache", "--report-dir", "out")
    (folder,) = (cache.parent / "out").iterdir()
    assert sorted(path.name for path in folder.iterdir()) == ["report.html", "report.json", "report.md"]
    text = (folder / "report.md").read_text()
    assert "| bad files              |       5 |       0 |" in text
    assert [line.split("|")[1].strip() for line in text.split("## Done")[1].splitlines()[4:]] == [
        "`cache/cuda.pt`",
        "`cache/legacy_cuda.pt`",
        "`cache/val/cut.pt`",
        "`cache/val/mixed.pt`",
        "`cache/val/unsafe.pt`",
    ]
    assert json.loads((folder / "report.json").read_text())["kind"] == "fix-cache"


def test_what_was_moved_comes_back_with_the_command_of_the_note(cache: Path, fix: Fix) -> None:
    old = (cache / "val" / "cut.pt").read_bytes()
    fix("--yes", "cache")
    note = (cache.parent / "quarantine" / "cache" / "QUARANTINE.md").read_text()
    assert not (cache / "val" / "cut.pt").exists()
    (back,) = re.findall(r"back: `(.*cut\.pt)`", note)
    subprocess.run(shlex.split(back), check=True)
    assert (cache / "val" / "cut.pt").read_bytes() == old


def test_the_quarantine_numbers_a_name_that_an_earlier_file_has(cache: Path, fix: Fix) -> None:
    taken = cache.parent / "quarantine" / "cache" / "val" / "cut.pt"
    taken.parent.mkdir(parents=True)
    taken.write_text("an earlier one")
    old = (cache / "val" / "cut.pt").read_bytes()
    assert fix("--yes", "cache").returncode == 0
    assert taken.read_text() == "an earlier one"
    assert taken.with_name("cut.pt.1").read_bytes() == old
    assert not (cache / "val" / "cut.pt").exists()


def test_a_quarantine_on_another_file_system_gets_verified_copies(cache: Path, other_disk: Path, fix: Fix) -> None:
    old = (cache / "val" / "cut.pt").read_bytes()
    done = fix("--yes", "cache", "--quarantine", other_disk / "bad")
    assert done.returncode == 0
    assert sorted(contents(other_disk / "bad")) == ["QUARANTINE.md", "val/cut.pt", "val/unsafe.pt"]
    assert (other_disk / "bad" / "val" / "cut.pt").read_bytes() == old
    assert not (cache / "val" / "cut.pt").exists()


def test_a_quarantine_inside_what_is_scanned_is_not_scanned_again(cache: Path, fix: Fix) -> None:
    assert fix("--yes", "cache", "--quarantine", cache / "bad").returncode == 0
    assert steady(fix("--dry-run", "cache").stdout) == ["5 of 5 cache files clean, SIZE (T s)"]


@pytest.mark.parametrize(
    ("option", "folder", "message"),
    [
        ("--quarantine", ".", "is a parent of"),
        ("--quarantine", "full", "holds other files already"),
        ("--backup", "cache/kept", "lies inside"),
        ("--to", "cache", "is "),
    ],
)
def test_folders_that_would_mix_with_the_cache_are_refused(
    cache: Path, fix: Fix, option: str, folder: str, message: str
) -> None:
    (cache.parent / "full").mkdir()
    (cache.parent / "full" / "thesis.tex").touch()
    before = contents(cache)
    done = fix("--yes", "cache", option, folder)
    assert (done.returncode, message in done.stderr.splitlines()[0]) == (2, True), done.stderr
    assert contents(cache) == before


def test_without_quarantine_useless_files_stay_and_are_named(cache: Path, fix: Fix) -> None:
    done = fix("--yes", "cache", "--no-quarantine")
    assert done.returncode == 1
    assert steady(done.stdout)[-5:] == [
        "left  cache/val/cut.pt: left where it is (--no-quarantine): "
        "no end record in the last 900 bytes: the file was cut off",
        "left  cache/val/unsafe.pt: left where it is (--no-quarantine): "
        "loading it would import posix.system (byte 176)",
        "3 repaired, 2 left alone (T s, SIZE written)",
        "5 of 7 cache files clean now, 5 were bad; left: truncated-file: 1, unsafe-pickle: 1",
        "report: reports/TIME-fix-cache/report.md",
    ]


def test_the_backup_holds_each_original_before_it_is_changed(cache: Path, fix: Fix) -> None:
    before = contents(cache)
    assert fix("--yes", "cache", "--backup", "kept").returncode == 0
    kept = contents(cache.parent / "kept")
    assert kept == {name: before[name] for name in ("cuda.pt", "legacy_cuda.pt", "val/mixed.pt")}


def test_a_backup_never_overwrites_and_the_file_is_then_left(cache: Path, fix: Fix) -> None:
    (cache.parent / "kept").mkdir()
    (cache.parent / "kept" / "cuda.pt").write_text("precious")
    old = (cache / "cuda.pt").read_bytes()
    done = fix("--yes", "cache", "--backup", "kept")
    assert done.returncode == 1
    assert "FAIL  cache/cuda.pt: not repaired: its backup" in done.stdout
    assert (cache.parent / "kept" / "cuda.pt").read_text() == "precious"
    assert (cache / "cuda.pt").read_bytes() == old
    assert steady(done.stdout)[-2] == "4 of 5 cache files clean now, 5 were bad; left: cuda-in-cache: 1"


def test_right_copies_go_to_the_ram_disk_and_the_originals_stay(cache: Path, other_disk: Path, fix: Fix) -> None:
    before = contents(cache)
    done = fix("--yes", "cache", "--to", other_disk / "cache")
    assert (done.returncode, contents(cache)) == (1, before)
    copies = contents(other_disk / "cache")
    assert sorted(copies) == ["array.npy", "clean.pt", "cuda.pt", "legacy_cuda.pt", "notes.txt", "val/mixed.pt"]
    assert copies["clean.pt"] == before["clean.pt"]
    for name in ("cuda.pt", "legacy_cuda.pt", "val/mixed.pt"):
        old = torch.load(cache / name, map_location="cpu")
        assert str(torch.load(other_disk / "cache" / name, weights_only=True)) == str(old)
        assert (other_disk / "cache" / name).stat().st_mtime_ns == (cache / name).stat().st_mtime_ns
    assert steady(done.stdout)[-5:-1] == [
        "left  cache/val/cut.pt: not copied: no end record in the last 900 bytes: the file was cut off",
        "left  cache/val/unsafe.pt: not copied: loading it would import posix.system (byte 176)",
        "6 copied, 2 left alone (T s, SIZE written)",
        "5 of 5 cache files clean now, 5 were bad",
    ]


def test_a_second_copy_to_the_ram_disk_goes_on_where_the_first_ended(cache: Path, other_disk: Path, fix: Fix) -> None:
    shutil.rmtree(cache / "val")
    fix("--yes", "cache", "--to", other_disk / "cache")
    (other_disk / "cache" / "cuda.pt").unlink()
    times = {path.name: path.stat().st_ino for path in (other_disk / "cache").iterdir()}
    done = fix("--yes", "cache", "--to", other_disk / "cache")
    assert done.returncode == 0
    assert "1 copied (" in done.stdout
    assert {name: (other_disk / "cache" / name).stat().st_ino for name in times} == times
    again = fix("--yes", "cache", "--to", other_disk / "cache")
    assert (again.returncode, "keep           5  copies that an earlier run has made" in again.stdout) == (0, True)


def test_too_little_space_is_refused_before_any_change_with_both_numbers(
    cache: Path, small_disk: Path, fix: Fix
) -> None:
    save_big(small_disk / "big.pt")
    save_big(cache / "big.pt")
    before = contents(small_disk)
    done = fix("--yes", small_disk)
    assert done.returncode == 1
    needs = f"error: the repair needs 588.0 KiB free on the file system of {small_disk}, 436.0 KiB are free; "
    assert done.stderr.splitlines()[0] == needs + "nothing was changed"
    assert contents(small_disk) == before
    assert fix("--dry-run", small_disk).returncode == 1
    (small_disk / "big.pt").unlink()
    (small_disk / "cache").mkdir()
    assert fix("--yes", "cache/big.pt", "--to", small_disk / "cache").returncode == 0


def test_a_file_that_hits_a_limit_fails_alone(cache: Path, fix: Fix) -> None:
    save_big(cache / "big.pt")
    old = (cache / "big.pt").read_bytes()

    def limited() -> None:
        import resource

        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 18, 1 << 18))

    done = fix("--yes", "cache", preexec_fn=limited)
    assert done.returncode == 1
    assert "FAIL  cache/big.pt: cannot repair" in done.stdout
    assert "3 repaired, 2 moved, 1 failed" in done.stdout
    assert (cache / "big.pt").read_bytes() == old
    assert [*cache.glob("*.tmp"), *cache.glob(".*.tmp")] == []
