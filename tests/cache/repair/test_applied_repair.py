"""Which way a repair takes, what it keeps of the file, and whom it makes way for."""

from __future__ import annotations

import errno
import fcntl
import os
import stat
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from diagnostics.cache.patch import ByteRange, Patch
from diagnostics.cache.repair.actions import Identity
from diagnostics.cache.repair.apply import Applied, apply, stale_temporaries
from diagnostics.cache.repair.copying import copy_range
from diagnostics.cache.repair.look import repair_of
from diagnostics.cache.repair.temporaries import temporary_name
from diagnostics.core.errors import DoctorError

OLD_NS = (1_500_000_000_123_456_789, 1_400_000_000_987_654_321)  # read, modified


@pytest.fixture
def sample(tmp_path: Path, tagged: Callable[..., None]) -> Path:
    path = tmp_path / "sample.pt"
    tagged(lambda storage: "cuda:1", {"z": torch.arange(12.0)}, path)
    path.chmod(0o640)
    os.utime(path, ns=OLD_NS)
    return path


def patch_of(path: Path, **changes: Any) -> Patch:
    patch = repair_of(str(path), compact=False)
    assert patch is not None
    return replace(patch, **changes)


def is_repaired(path: Path) -> bool:
    return bool(torch.load(path, weights_only=True)["z"].tolist() == list(range(12)))


@pytest.mark.parametrize("way", ["append", "copy"])
def test_mode_owner_and_times_to_the_nanosecond_are_kept(way: str, sample: Path) -> None:
    before = sample.stat()
    patch = patch_of(sample) if way == "append" else patch_of(sample, tail=b"")
    size = len(patch.tail) if way == "append" else before.st_size
    assert apply(sample, patch, expected=Identity.of(before)) == Applied(way=way, written=size)  # type: ignore[arg-type]
    after = sample.stat()
    assert is_repaired(sample)
    assert (after.st_mode, after.st_uid, after.st_gid) == (before.st_mode, before.st_uid, before.st_gid)
    assert after.st_mtime_ns == OLD_NS[1]
    assert (after.st_ino == before.st_ino) == (way == "append")
    assert list(sample.parent.iterdir()) == [sample]


def test_extended_attributes_are_kept_by_a_copy(sample: Path) -> None:
    try:
        os.setxattr(sample, "user.origin", b"run 17")
    except OSError:
        pytest.skip(f"needs extended attributes on the file system of {sample.parent}")
    apply(sample, patch_of(sample, tail=b""))
    assert os.getxattr(sample, "user.origin") == b"run 17"


def test_of_a_link_the_target_is_repaired_and_the_link_stays(sample: Path, tmp_path: Path) -> None:
    link = tmp_path / "elsewhere" / "link.pt"
    link.parent.mkdir()
    link.symlink_to("../sample.pt")
    for changes in ({"tail": b""}, {}):
        sample.write_bytes(sample.read_bytes().replace(b"X\3\0\0\0cpu", b"X\3\0\0\0mps"))
        apply(link, patch_of(link, **changes))
        assert link.is_symlink()
        assert is_repaired(sample)
        assert list(link.parent.iterdir()) == [link]


def test_a_file_of_several_names_is_copied_and_the_others_keep_the_old_content(sample: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.pt"
    other.hardlink_to(sample)
    old = other.read_bytes()
    assert apply(sample, patch_of(sample)).way == "copy"
    assert is_repaired(sample)
    assert other.read_bytes() == old


# Runs without the rights of root, who may write into everything; what is imported may be out of reach then.
APPLY_AS_NOBODY = """
import os, sys
from pathlib import Path
from diagnostics.cache.scan.one_file import formats
from diagnostics.core.errors import DoctorError
from diagnostics.cache.repair.apply import apply
from diagnostics.cache.repair.look import repair_of
formats()
os.setgroups([]), os.setgid(65534), os.setuid(65534)
try:
    print(apply(Path(sys.argv[1]), repair_of(sys.argv[1], compact=False)))
except DoctorError as error:
    print(error, "|", error.hint)
"""


def applied_as_nobody(path: Path) -> str:
    if os.getuid() != 0:
        pytest.skip("needs root, to make files that another user may not change")
    command = [sys.executable, "-c", APPLY_AS_NOBODY, str(path)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout


@pytest.fixture
def open_folder(sample: Path) -> Iterator[Path]:
    """A folder in which everybody may make files, reachable by everybody."""
    with tempfile.TemporaryDirectory(dir="/tmp") as name:  # pytest's own folder is closed to others
        folder = Path(name)
        folder.chmod(0o777)
        yield folder


def test_a_file_that_may_only_be_read_is_copied_and_says_whose_it_was(sample: Path, open_folder: Path) -> None:
    path = open_folder / "sample.pt"
    path.write_bytes(sample.read_bytes())
    path.chmod(0o444)
    said = applied_as_nobody(path)
    note = "its owner was 0:0, it is 65534:65534"
    assert said == f"Applied(way='copy', written={path.stat().st_size}, notes=({note!r},))\n"
    assert is_repaired(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o444


def test_where_neither_file_nor_folder_may_be_written_it_is_said_and_nothing_changes(
    sample: Path, open_folder: Path
) -> None:
    path = open_folder / "sample.pt"
    path.write_bytes(sample.read_bytes())
    path.chmod(0o444)
    open_folder.chmod(0o555)
    said = applied_as_nobody(path)
    assert said == f"cannot repair {path}: permission denied | check who owns it: namei -l {path}\n"
    assert path.read_bytes() == sample.read_bytes()


@pytest.mark.parametrize("way", ["append", "copy"])
def test_a_file_that_changed_since_the_plan_is_refused(way: str, sample: Path) -> None:
    patch = patch_of(sample, **({} if way == "append" else {"tail": b""}))
    expected = Identity.of(sample.stat())
    os.utime(sample, ns=(1, 2))
    before = sample.read_bytes()
    with pytest.raises(DoctorError, match="somebody changed it since it was scanned"):
        apply(sample, patch, expected=expected)
    assert sample.read_bytes() == before
    assert list(sample.parent.iterdir()) == [sample]


@pytest.mark.parametrize("way", ["append", "copy"])
def test_a_file_that_another_repair_holds_is_left_to_it(way: str, sample: Path) -> None:
    patch = patch_of(sample, **({} if way == "append" else {"tail": b""}))
    with sample.open("rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        with pytest.raises(DoctorError, match="another repair is at work on it"):
            apply(sample, patch)
    assert apply(sample, patch).way == way


@pytest.mark.parametrize("way", ["append", "copy"])
def test_a_wrong_patch_is_noticed_and_taken_back(way: str, sample: Path) -> None:
    before = sample.read_bytes()
    patch = patch_of(sample)
    wrong = patch.tail.replace(b"cpu", b"hpu")
    wrong_pieces = tuple(p if isinstance(p, ByteRange) else p.replace(b"cpu", b"hpu") for p in patch.pieces)
    broken = replace(patch, pieces=wrong_pieces, tail=wrong if way == "append" else b"")
    with pytest.raises(DoctorError, match="the repair was taken back, the file is as it was: it still names hpu"):
        apply(sample, broken)
    assert sample.read_bytes() == before
    assert sample.stat().st_mtime_ns == OLD_NS[1]
    assert list(sample.parent.iterdir()) == [sample]


def test_temporary_files_of_the_living_and_of_others_stay(tmp_path: Path) -> None:
    child = subprocess.Popen([sys.executable, "-c", ""])
    child.wait()
    own = temporary_name(tmp_path / "sample.pt")
    dead = tmp_path / f".sample.pt.ups-doctor-fix-{child.pid}-0123abcd.tmp"
    held = tmp_path / f".other.pt.ups-doctor-fix-{child.pid}-0123abcd.tmp"
    strange = tmp_path / f".sample.pt.ups-doctor-fix-{child.pid}-0123abcd.tmp.pt"
    link = tmp_path / f".link.pt.ups-doctor-fix-{child.pid}-0123abcd.tmp"
    for path in (own, dead, held, strange):
        path.write_bytes(b"")
    link.symlink_to("sample.pt")
    with held.open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        assert stale_temporaries(tmp_path) == [dead]
    assert stale_temporaries(tmp_path) == [held, dead]
    assert stale_temporaries(tmp_path / "missing") == []


def test_a_name_of_the_longest_length_has_a_temporary_one(tmp_path: Path, sample: Path) -> None:
    long = tmp_path / ("\N{GREEK SMALL LETTER NU}" * 126 + ".pt")
    long.write_bytes(sample.read_bytes())
    assert apply(long, patch_of(long, tail=b"")).way == "copy"
    assert is_repaired(long)


REFUSALS = (errno.EXDEV, errno.ENOSYS, errno.EINVAL, errno.EOPNOTSUPP)


@pytest.mark.parametrize("refused", [(), ("copy_file_range",), ("copy_file_range", "sendfile")])
@pytest.mark.parametrize("code", REFUSALS)
def test_bytes_are_copied_whatever_the_kernel_can(
    refused: tuple[str, ...], code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unable(*arguments: object, **options: object) -> int:
        raise OSError(code, os.strerror(code))

    for name in refused:
        monkeypatch.setattr(os, name, unable)
    data = os.urandom(3_000_000)
    (tmp_path / "source").write_bytes(data)
    with (tmp_path / "source").open("rb") as source, (tmp_path / "target").open("wb") as target:
        copy_range(source.fileno(), ByteRange(5, 2_999_000), target.fileno())
        copy_range(source.fileno(), ByteRange(0, 5), target.fileno())
    assert (tmp_path / "target").read_bytes() == data[5:2_999_005] + data[:5]


def test_a_source_that_ends_too_early_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "source").write_bytes(b"short")
    too_early = pytest.raises(OSError, match="the file ended at byte 5 while it was copied")
    with (tmp_path / "source").open("rb") as source, (tmp_path / "target").open("wb") as target, too_early:
        copy_range(source.fileno(), ByteRange(0, 6), target.fileno())
