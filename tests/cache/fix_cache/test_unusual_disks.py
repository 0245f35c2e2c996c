"""Hard links, sparse files, marks that bind root, read-only mounts, what is no file, files that somebody appends to."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import torch
from temporary_folders import folders_above

from diagnostics.cache.repair import hard_links
from diagnostics.cache.repair.engine import RepairOptions, carry_out, prepare
from diagnostics.cache.scan.one_file import scan_file

Fix = Callable[..., "subprocess.CompletedProcess[str]"]
WRITER = Path(__file__).parents[2] / "zoo" / "cache_writer.py"


def bad(path: Path) -> bool:
    return bool(scan_file(str(path)).problems)


@pytest.fixture
def linked(torch_files: Path, tmp_path: Path) -> Path:
    """A folder with two bad files: one of two names in it, one of two names in it and one elsewhere."""
    folder = tmp_path / "linked"
    folder.mkdir()
    shutil.copy(torch_files / "cuda.pt", folder / "a.pt")
    shutil.copy(torch_files / "legacy_cuda.pt", folder / "x.pt")
    os.link(folder / "a.pt", folder / "b.pt")
    os.link(folder / "x.pt", folder / "y.pt")
    os.link(folder / "x.pt", tmp_path / "elsewhere.pt")
    return folder


def test_names_of_one_file_stay_one_file_and_one_elsewhere_is_named(linked: Path, tmp_path: Path, fix: Fix) -> None:
    old = (tmp_path / "elsewhere.pt").read_bytes()
    done = fix("--yes", linked)
    assert (done.returncode, done.stderr) == (0, "")
    lines = [line.strip() for line in done.stdout.splitlines()]
    assert [line for line in lines if line.startswith("linked/")] == [
        "linked/a.pt: its other name (a hard link) here becomes the repaired file, too",
        "linked/x.pt: its other name (a hard link) here becomes the repaired file, too; "
        "its other name (a hard link) elsewhere keeps the old content",
    ]
    names = [linked / f"{name}.pt" for name in "abxy"]
    assert [bad(name) for name in names] == [False] * 4
    assert (names[0].samefile(names[1]), names[2].samefile(names[3])) == (True, True)
    assert (tmp_path / "elsewhere.pt").read_bytes() == old
    assert sorted(path.name for path in linked.iterdir()) == ["a.pt", "b.pt", "x.pt", "y.pt"]


def test_a_name_that_became_another_file_meanwhile_is_left_to_its_owner(linked: Path) -> None:
    prepared = prepare([linked / "x.pt", linked / "y.pt"], RepairOptions())
    assert [(Path(file.path).name, [Path(name).name for name in file.also]) for file in prepared.plan.files] == [
        ("x.pt", ["y.pt"])
    ]
    (linked / "y.pt").unlink()
    (linked / "y.pt").write_bytes(b"somebody's")
    result = carry_out(prepared, RepairOptions())
    (done,) = result.done
    assert done.text == f"its other name {linked}/y.pt leads to another file by now and is left"
    assert ((linked / "y.pt").read_bytes(), bad(linked / "x.pt")) == (b"somebody's", False)
    assert sorted(path.name for path in linked.iterdir()) == ["a.pt", "b.pt", "x.pt", "y.pt"]


def test_a_name_in_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    pairs, notes = hard_links.linked(tmp_path / "gone", [str(tmp_path / "b.pt")])
    assert (pairs, notes) == ([], [f"its other name {tmp_path}/b.pt keeps the old content: No such file or directory"])


def holes(path: Path) -> bool:
    """Whether a file takes less than half of the disk space of its size."""
    found = path.stat()
    return found.st_blocks * 512 < found.st_size / 2


def test_a_sparse_file_stays_sparse_and_needs_no_more_room_than_its_data(tmp_path: Path, fix: Fix) -> None:
    folder = tmp_path / "sparse"
    folder.mkdir()
    tensors = {"zeros": torch.zeros(2_000_000), "ones": torch.ones(10)}
    spec = importlib.util.spec_from_file_location("cache_writer", WRITER)
    assert spec
    assert spec.loader
    writer = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(writer)
    writer.tagged("cuda:1", tensors, tmp_path / "z.pt")
    writer.tagged("cuda:1", tensors, tmp_path / "l.pt", _use_new_zipfile_serialization=False)
    for name in ("z.pt", "l.pt"):
        subprocess.run(["cp", "--sparse=always", tmp_path / name, folder / name], check=True)
    if not all(holes(path) for path in folder.iterdir()):
        pytest.skip("this file system makes no holes")
    done = fix("--yes", folder)
    assert done.returncode == 0, done.stderr
    # How many blocks a file of 8 MB with holes takes is the file system's affair.
    written = re.search(r"copy +1 +([\d.]+) KiB written anew, each renamed when it is whole", done.stdout)
    assert written is not None, done.stdout
    assert float(written[1]) < 64
    for path in folder.iterdir():
        assert (path.name, holes(path), bad(path)) == (path.name, True, False)
        assert str(torch.load(path, weights_only=True)) == str(tensors)


@pytest.fixture
def marked(torch_files: Path, tmp_path: Path) -> Iterator[Path]:
    """A folder with three bad files that nobody may change: `chattr +i`, and one `chattr +a`."""
    folder = tmp_path / "marked"
    folder.mkdir()
    shutil.copy(torch_files / "cuda.pt", folder / "append.pt")
    shutil.copy(torch_files / "legacy_cuda.pt", folder)
    (folder / "cut.pt").write_bytes((torch_files / "cuda.pt").read_bytes()[:900])
    marks = [["chattr", "+a", folder / "append.pt"], ["chattr", "+i", folder / "legacy_cuda.pt", folder / "cut.pt"]]
    if shutil.which("chattr") is None or any(subprocess.run(one, check=False).returncode for one in marks):
        pytest.skip("marking files needs root and ext4, xfs or btrfs: chattr +i FILE")
    yield folder
    subprocess.run(["chattr", "-R", "-i", "-a", folder], check=True)


def test_a_file_that_is_marked_immutable_is_left_with_the_reason(marked: Path, fix: Fix) -> None:
    old = {path.name: path.read_bytes() for path in marked.iterdir()}
    done = fix("--yes", marked)
    why = "it is marked so that nobody may change, move or replace it (chattr)"
    assert (done.returncode, done.stderr) == (1, "")
    assert [line.strip() for line in done.stdout.splitlines() if "marked/" in line] == [
        f"marked/append.pt: {why}",
        f"lsattr {marked}/append.pt",
        f"marked/cut.pt: {why}: no end record in the last 900 bytes: the file was cut off",
        f"lsattr {marked}/cut.pt",
        f"marked/legacy_cuda.pt: {why}",
        f"lsattr {marked}/legacy_cuda.pt",
    ]
    assert {path.name: path.read_bytes() for path in marked.iterdir()} == old


def test_files_on_a_read_only_mount_are_left_with_the_reason(torch_files: Path, tmp_path: Path) -> None:
    folder = tmp_path / "ro"
    folder.mkdir()
    shutil.copy(torch_files / "cuda.pt", folder)
    mount = "mount --bind ro ro && mount -o remount,ro,bind ro"
    if subprocess.run(["unshare", "-m", "sh", "-c", mount], cwd=tmp_path, capture_output=True, check=False).returncode:
        pytest.skip("mounting needs root: sudo python -m pytest tests/cache/fix_cache")
    doctor = f"{sys.executable} -c 'from diagnostics.cli import main; main()' fix-cache --yes ro"
    done = subprocess.run(
        ["unshare", "-m", "sh", "-c", f"{mount} && {doctor}"], cwd=tmp_path, capture_output=True, text=True,
        timeout=60, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (1, "")
    assert "ro/cuda.pt: its file system is mounted read-only; --to DIR makes a right copy elsewhere" in done.stdout
    assert bad(folder / "cuda.pt")


def test_pipes_sockets_devices_and_circles_are_not_waited_for(torch_files: Path, tmp_path: Path, fix: Fix) -> None:
    folder = tmp_path / "odd"
    folder.mkdir()
    shutil.copy(torch_files / "clean.pt", folder)
    os.mkfifo(folder / "pipe.pt")
    (folder / "zero.pt").symlink_to("/dev/zero")
    (folder / "self").symlink_to(".")
    with socket.socket(socket.AF_UNIX) as bound:
        here = os.getcwd()  # noqa: PTH109 - a socket's path has 107 bytes at most
        os.chdir(folder)
        try:
            bound.bind("socket.pt")
        finally:
            os.chdir(here)
        done = fix("--yes", folder)
    assert (done.returncode, done.stdout.partition(",")[0], done.stderr) == (0, "1 of 1 cache files clean", "")


def test_a_file_that_somebody_appends_to_is_left_whenever_it_grew(torch_files: Path, tmp_path: Path) -> None:
    path = tmp_path / "growing" / "cuda.pt"
    path.parent.mkdir()
    shutil.copy(torch_files / "cuda.pt", path)
    prepared = prepare([path.parent], RepairOptions())
    with path.open("ab") as file, subprocess.Popen(["sleep", "60"], stdout=file) as writer:
        try:
            file.write(b"more")
            file.flush()
            while_open = carry_out(prepare([path.parent], RepairOptions()), RepairOptions())
        finally:
            writer.kill()
    after = carry_out(prepared, RepairOptions())
    assert [one.text.partition(" (")[0] for one in while_open.left] == [f"open for writing by pid {writer.pid}"]
    assert [one.text for one in after.left] == ["it was changed since the plan was made; run again"]
    assert path.read_bytes() == (torch_files / "cuda.pt").read_bytes() + b"more"


AS_NOBODY = """
import encodings.unicode_escape, os, sys
from pathlib import Path
from diagnostics.cache.scan.one_file import formats; formats()
from diagnostics.cache.repair.engine import RepairOptions, carry_out, prepare
from diagnostics.cache.repair.copies import rename_to_free_name
os.setgroups([]); os.setgid(65534); os.setuid(65534)
folder = Path(sys.argv[1])
result = carry_out(prepare([folder], RepairOptions()), RepairOptions())
told = [f"{Path(one.plan.path).name} {one.status} {one.text}" for one in result.outcomes]
print(*sorted(told), sep="\\n")
try:
    rename_to_free_name(folder / "cut.pt", Path(sys.argv[2], "moved.pt"))
except PermissionError:
    print("not moved", os.listdir(sys.argv[2]))
"""


def test_in_a_sticky_folder_files_of_others_are_left_and_own_ones_repaired(torch_files: Path, tmp_path: Path) -> None:
    if os.geteuid():
        pytest.skip("needs root, to become another user")
    folder = tmp_path / "sticky"
    folder.mkdir()
    for above in folders_above(folder):
        above.chmod(0o755)
    shutil.copy(torch_files / "cuda.pt", folder / "own.pt")
    os.chown(folder / "own.pt", 65534, 65534)
    shutil.copy(torch_files / "cuda.pt", folder / "writable.pt")
    shutil.copy(torch_files / "legacy_cuda.pt", folder / "copied.pt")
    (folder / "cut.pt").write_bytes((torch_files / "cuda.pt").read_bytes()[:900])
    for path in folder.iterdir():
        path.chmod(0o666)
    folder.chmod(0o1777)
    aside = tmp_path / "aside"
    aside.mkdir()
    os.chown(aside, 65534, 65534)
    done = subprocess.run(
        [sys.executable, "-c", AS_NOBODY, folder, aside], capture_output=True, text=True, timeout=60, check=False
    )
    why = f"it belongs to root, and in {folder} only the owner of a file may move it (sticky bit)"
    assert done.stdout.splitlines() == [
        f"copied.pt left {why}",
        f"cut.pt left {why}: no end record in the last 900 bytes: the file was cut off",
        "own.pt done ",
        "writable.pt done the time of its last change is that of the repair: it belongs to somebody else",
        "not moved []",
    ], done.stderr
    assert [bad(folder / f"{name}.pt") for name in ("own", "writable", "copied", "cut")] == [False, False, True, True]
    assert sorted(path.name for path in folder.iterdir()) == ["copied.pt", "cut.pt", "own.pt", "writable.pt"]
