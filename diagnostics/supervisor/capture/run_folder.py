"""Where the report and the record of a watched job go: also where the folder asked for cannot be written."""

from __future__ import annotations

import errno
import os
import shutil
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from diagnostics.core.errors import UsageError, from_os_error
from diagnostics.core.files import new_folder, temporary_folder
from diagnostics.machine.host.disks import MountedDisks
from diagnostics.record.record import make_record_folder

REPORTS = Path("reports")
LEAST_FREE_BYTES = 1 << 18  # what one process reserves when it starts, and a report: else there is neither
CLOSED = "closed"  # agent/areas.py looks for it
PARTS = ("agents", "output", "captures", "sources")
# Agents map their files into memory: on a file system of another machine that may hang a rank, or kill it.
LOCAL = {
    "ext2", "ext3", "ext4", "xfs", "btrfs", "zfs", "tmpfs", "ramfs", "overlay", "f2fs", "bcachefs", "jfs", "reiserfs",
    "fuseblk",
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFolder:
    """One watched job's folder. `agents` lies elsewhere while the job runs where `folder` is not on a local disk."""

    folder: Path
    agents: Path
    problem: str = ""  # why `folder` is not where it was asked for

    @property
    def record(self) -> Path:
        """The record in it."""
        return self.folder / "record"

    def is_watched(self, pid: int, start_ticks: int) -> bool:
        """Whether the process has had an agent."""
        return (self.agents / f"agent-{pid}-{start_ticks}.bin").exists()

    def close_agents(self) -> None:
        """Has programs that start from now on make no files any more: what outlives a job would fill the disk."""
        with suppress(OSError):  # removed by the job: then nobody can make a file there
            (self.agents / CLOSED).touch(0o600)

    def replaced(self) -> dict[str, str]:
        """Returns {part of the record: why nothing was written there} of what the job has put something else for."""
        links = [name for name in PARTS if (self.record / name).is_symlink()]
        return dict.fromkeys(links, "a link has taken its place, and nothing is written through it")

    def copy_agents(self) -> None:
        """Copies what the agents wrote so far into the record, where it lies elsewhere."""
        home = self.record / "agents"
        if self.agents != home:
            with suppress(OSError, shutil.Error):  # a file that went meanwhile; those that were copied tell something
                shutil.copytree(self.agents, home, dirs_exist_ok=True, ignore=shutil.ignore_patterns("*.fifo"))

    def bring_agents_home(self) -> str:
        """Moves the agents' files into the record; returns "" or why they stay where they are.

        The pipes of processes that died go: whoever copies or packs the folder would wait for them.
        """
        for pipe in self.agents.glob("flight-*.fifo"):
            pipe.unlink(missing_ok=True)
        home = self.record / "agents"
        if self.agents == home:
            return ""
        if home.is_symlink():
            return f"they stay in {self.agents}: a link has taken the place of {home}"
        try:
            shutil.copytree(self.agents, home, dirs_exist_ok=True, ignore=shutil.ignore_patterns("*.fifo"))
        except (OSError, shutil.Error) as error:
            return f"they stay in {self.agents}: {error}"
        shutil.rmtree(self.agents.parent, ignore_errors=True)
        return ""


def open_run_folder(wanted: Path | None, kind: str = "run") -> RunFolder:
    """Returns a new folder: `wanted`, else reports/<time>-<kind>. Raises UsageError where `wanted` holds files already.

    Where it cannot be written, it is made in the temporary folder. Raises OSError where no folder can be made at all.
    """
    if wanted is not None and _holds_something(wanted):
        full = "is not empty" if wanted.is_dir() else "is a file"
        raise UsageError(
            f"--report-dir {wanted} {full}: a report never overwrites another",
            hint="name a folder that does not exist yet",
        )
    try:
        folder = new_folder(REPORTS, kind=kind) if wanted is None else _made(wanted)
        _refuse_full(folder)
        return _furnish(Path(os.path.realpath(folder)))
    except OSError as error:
        refused = from_os_error(error, action="cannot write", path=wanted or REPORTS)
        return _furnish(Path(os.path.realpath(temporary_folder("ups-doctor-run-"))), problem=refused.message)


def _refuse_full(folder: Path) -> None:
    """Raises OSError, and takes the new folder away, where not even one process's record would find room."""
    disk = os.statvfs(folder)
    if disk.f_bavail * disk.f_frsize < LEAST_FREE_BYTES:
        with suppress(OSError):  # it holds what the user keeps there
            (folder / "record").rmdir()
        with suppress(OSError):
            folder.rmdir()
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def _made(folder: Path) -> Path:
    if not folder.is_dir():  # one that is there keeps the rights that it has
        folder.mkdir(mode=0o700, parents=True)
    (folder / "record").mkdir(mode=0o700)
    return folder


def _holds_something(folder: Path) -> bool:
    try:
        return any(folder.iterdir())
    except NotADirectoryError:
        return True
    except FileNotFoundError:
        return False
    except OSError:  # unreadable: writing will say why
        return False


def _furnish(folder: Path, problem: str = "") -> RunFolder:
    for name in PARTS:
        (folder / "record" / name).mkdir(mode=0o700, parents=True, exist_ok=True)
    (folder / "record").chmod(0o700)
    agents = folder / "record" / "agents"
    if MountedDisks().file_system(agents) not in LOCAL:
        elsewhere = Path(os.path.realpath(temporary_folder("ups-doctor-run-")))
        if MountedDisks().file_system(elsewhere) in LOCAL:
            agents = Path(make_record_folder(elsewhere / "agents"))
        else:
            elsewhere.rmdir()
    return RunFolder(folder=folder, agents=agents, problem=problem)
