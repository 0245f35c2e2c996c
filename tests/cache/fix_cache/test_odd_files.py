"""Links, names given twice, read-only files, and files that change between plan and work."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import torch
import torch.distributed.checkpoint
from temporary_folders import folders_above

from diagnostics.cache.repair.actions import Action
from diagnostics.cache.repair.engine import RepairOptions, carry_out, prepare
from diagnostics.cache.scan.one_file import scan_file

Fix = Callable[..., "subprocess.CompletedProcess[str]"]


def bad(path: Path) -> bool:
    return bool(scan_file(str(path)).problems)


def planned(*paths: Path) -> dict[str, Action]:
    """Returns the action for each file that has one, by its name."""
    return {Path(file.path).name: file.action for file in prepare(paths, RepairOptions()).plan.files}


@pytest.fixture
def one(torch_files: Path, tmp_path: Path) -> Path:
    """A folder with one bad file, cuda.pt."""
    folder = tmp_path / "one"
    folder.mkdir()
    shutil.copy(torch_files / "cuda.pt", folder)
    return folder


def test_a_link_is_followed_and_stays_a_link(one: Path, tmp_path: Path, fix: Fix) -> None:
    outside = tmp_path / "elsewhere.pt"
    (one / "cuda.pt").rename(outside)
    (one / "link.pt").symlink_to(outside)
    assert fix("--yes", one).returncode == 0
    assert ((one / "link.pt").is_symlink(), bad(outside)) == (True, False)


def test_a_link_beside_its_file_is_no_second_file(one: Path) -> None:
    (one / "a_link.pt").symlink_to("cuda.pt")
    assert planned(one) == {"cuda.pt": Action.APPEND}


def test_a_useless_file_behind_a_link_is_not_moved_from_under_it(one: Path, tmp_path: Path, fix: Fix) -> None:
    cut = tmp_path / "cut.pt"
    cut.write_bytes((one / "cuda.pt").read_bytes()[:900])
    (one / "link.pt").symlink_to(cut)
    done = fix("--yes", one)
    assert done.returncode == 1
    assert f"left  one/link.pt: a link to {cut}, which is not moved unless it is named itself" in done.stdout
    assert cut.exists()


def test_paths_given_twice_and_nested_count_once(one: Path) -> None:
    prepared = prepare([one, one / "cuda.pt", one.parent / "one", Path(f"{one}/*.pt")], RepairOptions())
    assert (prepared.plan.census.files, len(prepared.plan.todo)) == (1, 1)


def test_hard_links_keep_the_old_content_and_the_plan_says_so(one: Path, tmp_path: Path, fix: Fix) -> None:
    os.link(one / "cuda.pt", tmp_path / "other_name.pt")
    done = fix("--yes", one)
    assert done.returncode == 0
    assert "one/cuda.pt: its other name (a hard link) keeps the old content" in done.stdout
    assert (bad(one / "cuda.pt"), bad(tmp_path / "other_name.pt")) == (False, True)


def test_a_removed_file_and_a_changed_one_are_left_and_the_others_go_on(cache: Path) -> None:
    prepared = prepare([cache], RepairOptions())
    (cache / "cuda.pt").unlink()
    os.utime(cache / "legacy_cuda.pt")
    result = carry_out(prepared, RepairOptions())
    assert {Path(outcome.plan.path).name: outcome.text for outcome in result.left} == {
        "cuda.pt": "it was removed since the plan was made",
        "legacy_cuda.pt": "it was changed since the plan was made; run again",
    }
    assert (len(result.done), result.exit_code) == (3, 1)


def test_a_read_only_file_keeps_its_permissions(one: Path, fix: Fix) -> None:
    (one / "cuda.pt").chmod(0o440)
    assert fix("--yes", one).returncode == 0
    assert (bad(one / "cuda.pt"), (one / "cuda.pt").stat().st_mode & 0o777) == (False, 0o440)


def test_what_this_user_may_not_change_is_left_with_the_reason(cache: Path) -> None:
    if os.geteuid():
        pytest.skip("needs root, to become another user")
    for path in folders_above(cache):
        path.chmod(0o755)
    program = (
        "import os, sys; from pathlib import Path; from diagnostics.cache.scan.one_file import formats; formats()\n"
        "from diagnostics.cache.repair.engine import RepairOptions, carry_out, prepare\n"
        "os.setgid(65534); os.setuid(65534)\n"
        "result = carry_out(prepare([Path(sys.argv[1])], RepairOptions()), RepairOptions())\n"
        "left = [f'{Path(one.plan.path).name} {one.status} {one.text}' for one in result.left]\n"
        "print(result.exit_code, *sorted(left), sep='\\n')"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(cache)], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.stdout.splitlines() == [
        "1",
        f"cuda.pt left the folder {cache} cannot be written by this user",
        f"cut.pt left the folder {cache}/val cannot be written by this user: "
        "no end record in the last 900 bytes: the file was cut off",
        f"legacy_cuda.pt left the folder {cache} cannot be written by this user",
        f"mixed.pt left the folder {cache}/val cannot be written by this user",
        f"unsafe.pt left the folder {cache}/val cannot be written by this user: "
        "loading it would import posix.system (byte 176)",
    ], done.stderr


def test_a_file_that_cannot_be_read_is_named(one: Path, fix: Fix) -> None:
    (one / "loop.pt").symlink_to("loop.pt")
    done = fix("--yes", one)
    assert done.returncode == 1
    assert "left  one/loop.pt: cannot be read: Too many levels of symbolic links" in done.stdout


def test_a_control_character_of_a_name_never_reaches_the_terminal(one: Path, fix: Fix) -> None:
    (one / "cuda.pt").rename(one / "a\x1b[2J.pt")
    (one / "b\x1b[2J.pt").write_bytes((one / "a\x1b[2J.pt").read_bytes()[:900])
    done = fix("--yes", one)
    assert (done.returncode, "\x1b" in done.stdout + done.stderr) == (0, False)
    (report,) = (one.parent / "reports").glob("*/report.md")
    assert "\x1b" not in report.read_text() + (one.parent / "quarantine" / "one" / "QUARANTINE.md").read_text()


def test_names_that_are_no_text_are_repaired_and_written_down(one: Path, fix: Fix) -> None:
    name = os.fsdecode(b"latin-\xe9.pt")
    (one / "cuda.pt").rename(one / name)
    done = subprocess.run(
        [sys.executable, "-c", "import sys; from diagnostics.cli import main; main()", "fix-cache", "--yes", "one"],
        cwd=one.parent, capture_output=True, check=False, stdin=subprocess.DEVNULL, timeout=60,
    )  # fmt: skip
    assert (done.returncode, bad(one / name)) == (0, False), done.stderr


def test_a_pattern_names_its_files(one: Path, fix: Fix) -> None:
    assert fix("--dry-run", "one/*.pt").returncode == 1
    done = fix("--dry-run", "one/*.bin")
    assert (done.returncode, done.stderr.splitlines()[0]) == (2, "error: one/*.bin: no such file or folder")


def test_a_temporary_file_of_a_killed_repair_is_removed(one: Path, fix: Fix) -> None:
    killed = subprocess.Popen([sys.executable, "-c", "pass"])
    killed.wait()
    leftover = one / f".cuda.pt.ups-doctor-fix-{killed.pid}-0123abcd.tmp"
    leftover.write_bytes(b"half")
    done = fix("--yes", one)
    assert (done.returncode, leftover.exists()) == (0, False)
    assert "removes 1 file that a killed repair left half written" in done.stdout


def test_a_folder_that_cannot_be_listed_is_named_and_the_others_are_repaired(one: Path) -> None:
    if os.geteuid():
        pytest.skip("needs root, to become another user")
    (one / "closed").mkdir(mode=0o700)
    for path in (one, one / "cuda.pt"):
        os.chown(path, 65534, 65534)
    for path in folders_above(one):
        path.chmod(0o755)
    program = (
        "import encodings.unicode_escape, os, sys; from pathlib import Path\n"
        "from diagnostics.cache.scan.one_file import formats; formats()\n"
        "from diagnostics.cache.repair.engine import RepairOptions, carry_out, prepare\n"
        "os.setgid(65534); os.setuid(65534)\n"
        "result = carry_out(prepare([Path(sys.argv[1])], RepairOptions()), RepairOptions())\n"
        "print(result.exit_code, len(result.done), *[one.text for one in result.left], sep='\\n')"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(one)], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.stdout.splitlines() == ["1", "1", "cannot be listed: Permission denied"], done.stderr
    assert not bad(one / "cuda.pt")


def test_an_empty_path_is_no_order_to_repair_the_current_folder(one: Path, fix: Fix) -> None:
    done = fix("--yes", "")
    assert (done.returncode, done.stderr.splitlines()[0]) == (
        2,
        "error: one of the paths is empty: a variable that is not set?",
    )
    assert bad(one / "cuda.pt")


@pytest.mark.filterwarnings("ignore:torch.distributed is disabled")
def test_a_damaged_part_of_a_checkpoint_of_several_files_is_not_moved(tmp_path: Path, fix: Fix) -> None:
    state = {"weight": torch.arange(600.0)}
    torch.distributed.checkpoint.save(state, checkpoint_id=tmp_path / "step_10", no_dist=True)
    (part,) = (tmp_path / "step_10").glob("*.distcp")
    part.write_bytes(part.read_bytes()[:500])
    before = sorted(path.name for path in (tmp_path / "step_10").iterdir())
    done = fix("--yes", "step_10")
    assert (done.returncode, sorted(path.name for path in (tmp_path / "step_10").iterdir())) == (1, before)
    assert "part of several files that only make sense together: " in done.stdout


def test_compaction_takes_out_what_no_tensor_uses_and_keeps_the_tensors(
    torch_files: Path, tmp_path: Path, fix: Fix
) -> None:
    sample = tmp_path / "views.pt"
    torch.save({"head": torch.arange(100_000.0)[:10], "tail": torch.arange(10.0)}, sample)
    old = torch.load(sample, weights_only=True)
    assert fix("--yes", "views.pt").returncode == 0
    assert sample.stat().st_size > 400_000
    done = fix("--yes", "--compact", "views.pt")
    assert (done.returncode, sample.stat().st_size < 10_000) == (0, True)
    assert "1 compacted" in done.stdout
    assert str(torch.load(sample, weights_only=True)) == str(old)


def fill(folder: Path) -> None:
    """Writes until the file system is full."""
    with contextlib.suppress(OSError), (folder / "full").open("wb", buffering=0) as file:
        while True:
            file.write(b"x" * 4096)


def test_a_disk_that_fills_after_the_plan_costs_no_byte(small_disk: Path, torch_files: Path) -> None:
    for name in ("cuda.pt", "legacy_cuda.pt"):
        shutil.copy(torch_files / name, small_disk)
    old = {path.name: path.read_bytes() for path in small_disk.iterdir()}
    prepared = prepare([small_disk], RepairOptions())
    fill(small_disk)
    result = carry_out(replace(prepared, needs=()), RepairOptions())
    assert result.exit_code == 1
    assert [outcome.text for outcome in result.left] == [
        f"cannot repair {small_disk}/legacy_cuda.pt: the disk is full; "
        f"free some space (df -h {small_disk}/legacy_cuda.pt) and run the command again"
    ]
    assert bad(small_disk / "legacy_cuda.pt")
    assert (small_disk / "legacy_cuda.pt").read_bytes() == old["legacy_cuda.pt"]


def test_a_copy_that_lacks_a_linked_folder_says_so(one: Path, tmp_path: Path, other_disk: Path, fix: Fix) -> None:
    (tmp_path / "more").mkdir()
    (one / "linked").symlink_to(tmp_path / "more")
    done = fix("--yes", one, "--to", other_disk / "cache")
    assert done.returncode == 1
    assert "left  one/linked: a link to a folder (name it to scan it)" in done.stdout
