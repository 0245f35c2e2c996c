"""The copy on a RAM disk: made once, shared, refused without room, and never left behind for long."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from ups.data import ram_disk
from ups.errors import UpsError

ROOT = Path(__file__).resolve().parents[3]
SHM = Path("/dev/shm")  # noqa: S108 - what is tested; a folder with a name of its own is made in it
FILES = {"manifest.json": 20, "train_u.npy": 300_000, "validation_u.npy": 100_000}

HOLD = """
import sys
from pathlib import Path
from ups.data import ram_disk
copy = ram_disk.attach(Path(sys.argv[1]), sys.argv[2], print, spare_bytes=0)
print(copy.folder, flush=True)
sys.stdin.read()
copy.close()
"""

DIE = """
import os, shutil, signal, sys
from pathlib import Path
from ups.data import ram_disk
def killed(source, target):
    Path(target).write_bytes(b"half")
    os.kill(os.getpid(), signal.SIGKILL)
shutil.copyfile = killed
ram_disk.attach(Path(sys.argv[1]), sys.argv[2], print, spare_bytes=0)
"""


class Made:
    """A cache on one file system, a RAM disk on another, and what was said."""

    def __init__(self, cache: Path, place: Path) -> None:
        self.cache, self.place, self.said = cache, place, list[str]()
        cache.mkdir()
        for name, size in FILES.items():
            (cache / name).write_bytes(os.urandom(size))
        self.root = place / f"ups-latents-{os.getuid()}"

    def attach(self, spare_bytes: int = 0) -> ram_disk.RamCopy:
        return ram_disk.attach(self.cache, str(self.place), self.said.append, spare_bytes=spare_bytes)

    def other(self, program: str) -> subprocess.Popen[str]:
        argv = [sys.executable, "-c", program, str(self.cache), str(self.place)]
        return subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT)

    def copies(self) -> list[str]:
        return sorted(path.name for path in self.root.iterdir()) if self.root.exists() else []


@pytest.fixture
def made(tmp_path: Path) -> Iterator[Made]:
    if not SHM.is_dir() or SHM.stat().st_dev == tmp_path.stat().st_dev:
        pytest.skip("needs /dev/shm, and a temporary folder that is not on it: --basetemp")
    place = Path(tempfile.mkdtemp(dir=SHM, prefix="ups-test-"))
    yield Made(tmp_path / "cache", place)
    shutil.rmtree(place)


def begun(process: subprocess.Popen[str]) -> Path:
    """Returns the folder that a holder reads from."""
    assert process.stdout is not None
    while not (line := process.stdout.readline()).startswith("/"):
        assert line
    return Path(line.strip())


def test_the_copy_is_equal_and_goes_when_it_is_closed(made: Made) -> None:
    copy = made.attach()
    assert {path.name: path.read_bytes() for path in copy.folder.iterdir()} == {
        path.name: path.read_bytes() for path in made.cache.iterdir()
    }
    first, last = made.said
    assert first == f"copying the latent cache to {made.root}: 0.4 MB"
    assert last.startswith("copied the latent cache in ")
    copy.close()
    assert list(made.place.iterdir()) == []


def test_two_processes_share_one_copy_and_the_last_removes_it(made: Made) -> None:
    holder = made.other(HOLD)
    folder = begun(holder)
    mine = made.attach()
    assert mine.folder == folder
    assert made.said == []
    mine.close()
    assert made.copies() == [folder.name]
    holder.communicate(timeout=60)
    assert list(made.place.iterdir()) == []


def test_a_copy_of_a_killed_run_is_reused_when_it_is_equal(made: Made) -> None:
    holder = made.other(HOLD)
    folder = begun(holder)
    holder.kill()
    holder.communicate()
    copy = made.attach()
    assert (copy.folder, made.said) == (folder, [])
    copy.close()
    assert list(made.place.iterdir()) == []


def test_a_copy_of_a_killed_run_is_removed_when_the_cache_has_changed(made: Made) -> None:
    holder = made.other(HOLD)
    folder = begun(holder)
    holder.kill()
    holder.communicate()
    (made.cache / "train_u.npy").write_bytes(bytes(300_000))
    copy = made.attach()
    assert copy.folder != folder
    assert made.said[0] == f"removed {folder}, left by a run that died"
    assert made.copies() == [copy.folder.name]
    copy.close()


def test_a_copy_that_another_run_reads_is_not_removed_by_a_run_with_another_cache(made: Made) -> None:
    holder = made.other(HOLD)
    folder = begun(holder)
    (made.cache / "train_u.npy").write_bytes(bytes(300_000))
    copy = made.attach()
    assert made.copies() == sorted([folder.name, copy.folder.name])
    copy.close()
    assert made.copies() == [folder.name]
    holder.communicate(timeout=60)
    assert list(made.place.iterdir()) == []


def test_half_a_copy_of_a_killed_run_is_removed(made: Made) -> None:
    dead = made.other(DIE)
    dead.communicate(timeout=60)
    assert dead.returncode == -signal.SIGKILL
    (half,) = made.copies()
    assert half.endswith(".copying")
    copy = made.attach()
    assert made.said[0] == f"removed {made.root / half}, left by a run that died"
    assert made.copies() == [copy.folder.name]
    copy.close()


def test_the_launcher_removes_what_killed_ranks_left(made: Made) -> None:
    holder = made.other(HOLD)
    folder = begun(holder)
    assert ram_disk.clean(made.place) == []
    holder.kill()
    holder.communicate()
    assert ram_disk.clean(made.place) == [folder]
    assert list(made.place.iterdir()) == []


def test_without_room_a_named_disk_refuses_with_both_numbers_and_copies_nothing(made: Made) -> None:
    with pytest.raises(UpsError) as refused:
        made.attach(spare_bytes=1 << 50)
    assert refused.value.message.startswith(
        f"a copy of the latent cache takes 0.4 MB in {made.place} and leaves 1125899906.8 MB to the loaders, "
    )
    assert "cache.ram_disk=null or auto" in refused.value.hint
    assert list(made.place.iterdir()) == []


def test_without_room_auto_reads_the_cache_itself_and_says_so(made: Made) -> None:
    copy = ram_disk.attach(made.cache, "auto", made.said.append, spare_bytes=1 << 50)
    assert (copy.folder, copy.lock, made.said) == (made.cache, -1, [])
    assert copy.note.endswith(f": the latent cache is read from {made.cache}")
    copy.close()
    assert (made.cache / "train_u.npy").exists()


def test_processes_that_come_and_go_at_once_never_miss_the_folder_that_another_one_removes(tmp_path: Path) -> None:
    code = "import sys; from ups.data.ram_disk import _alone as alone; from pathlib import Path\n"
    code += "for _ in range(3000):\n    with alone(Path(sys.argv[1])): pass\n"
    ended = [
        subprocess.Popen([sys.executable, "-c", code, str(tmp_path / "root")], stderr=subprocess.PIPE) for _ in range(3)
    ]
    assert [(one.communicate()[1], one.returncode) for one in ended] == [(b"", 0)] * 3
    assert not (tmp_path / "root").exists()


def test_without_a_ram_disk_nothing_is_copied(made: Made) -> None:
    assert ram_disk.attach(made.cache, None, made.said.append) == ram_disk.RamCopy(made.cache)
    assert made.said == []


def test_a_cache_that_lies_on_the_ram_disk_already_is_not_copied(made: Made) -> None:
    there = made.place / "cache"
    shutil.copytree(made.cache, there)
    copy = ram_disk.attach(there, str(made.place), made.said.append)
    copy.close()
    assert copy.folder == there
    assert sorted(path.name for path in there.iterdir()) == sorted(FILES)


def test_what_is_not_ours_is_never_removed(made: Made) -> None:
    foreign = made.root / "thesis"
    foreign.mkdir(parents=True)
    made.root.chmod(0o700)
    (foreign / "chapter.tex").write_text("years of work")
    (made.root / "notes.txt").write_text("mine")
    made.attach().close()
    assert made.copies() == ["notes.txt", "thesis"]
    assert (foreign / "chapter.tex").read_text() == "years of work"


def test_a_folder_that_others_may_write_to_is_refused(made: Made) -> None:
    made.root.mkdir()
    made.root.chmod(0o777)
    with pytest.raises(UpsError, match="others may write to it: no latents are put there"):
        made.attach()


def test_a_link_in_place_of_our_folder_is_refused(made: Made, tmp_path: Path) -> None:
    made.root.symlink_to(tmp_path)
    with pytest.raises(UpsError, match=r"^cannot copy the latent cache to "):
        made.attach()
