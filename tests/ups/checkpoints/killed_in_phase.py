"""Kills a process of a training with -9 in a chosen phase, and sees what is left: a rank waits there for its end."""

from __future__ import annotations

import os
import signal
import subprocess
import textwrap
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from small_run import PROGRAM, processes_marked, start, start_from_cold, write_config, write_data
from warm_python import Running

PHASES = ("start", "first step", "step", "latents", "validation", "checkpoint", "end")
VICTIMS = ("rank 0", "rank 1", "launcher", "command")
TORCHRUN = ("-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2", "-m", "ups")
THEIRS = "torchelastic_"  # a folder that torchrun leaves when it is killed
# A /dev/shm of its own for the job, where that can be had: other jobs of this machine use the common one.
OWN_SHM = ("unshare", "-m", "bash", "-c", 'mount --bind "$0" /dev/shm && exec "$@"')
REACHED_S, GONE_S = 300.0, 30.0  # a watched start takes minutes on busy cores

# In each rank, before anything of it: the function of the phase says that it was reached, and waits. In a fork that has
# no command before it, the first process makes itself a /dev/shm of its own.
WAITS = textwrap.dedent("""
    import ctypes, importlib.abc, importlib.machinery, os, sys, time

    PLACES = {
        "start": ("ups.distributed", "begin", 1),
        "first step": ("ups.train", "Loop._step", 1),
        "step": ("ups.train", "Loop._step", 5),
        "latents": ("ups.train", "Loop._step", 10),
        "validation": ("ups.train", "Loop._validation_error", 1),
        "checkpoint": ("ups.checkpointing.saver", "Saver._written", 1),
        "end": ("ups.distributed", "end", 1),
    }
    module, name, nth = PLACES[os.environ["DRILL_PHASE"]]

    def waiting(function):
        calls = 0
        def instead(*args, **kwargs):
            nonlocal calls
            calls += 1
            if calls == nth:
                open(os.environ["DRILL_REACHED"], "w").write(str(os.getpid()))
                time.sleep(120)
            return function(*args, **kwargs)
        return instead

    class Loader(importlib.abc.Loader):
        def __init__(self, loader):
            self.loader = loader
        def create_module(self, spec):
            return self.loader.create_module(spec)
        def exec_module(self, made):
            self.loader.exec_module(made)
            put_into(made)

    def put_into(made):
        *owner, last = name.split(".")
        holder = getattr(made, owner[0]) if owner else made
        setattr(holder, last, waiting(getattr(holder, last)))

    class Finder(importlib.abc.MetaPathFinder):
        def find_spec(self, fullname, path, target=None):
            if fullname != module:
                return None
            spec = importlib.machinery.PathFinder.find_spec(fullname, path)
            spec.loader = Loader(spec.loader)
            return spec

    if os.environ.get("RANK") == os.environ["DRILL_RANK"]:
        if module in sys.modules:
            put_into(sys.modules[module])
        else:
            sys.meta_path.insert(0, Finder())
    shm = os.environ.pop("DRILL_SHM", "")
    if shm:  # mount(2): a namespace of our own, nothing of which is seen outside
        libc, (bind, private_below) = ctypes.CDLL(None), (0x1000, 0x44000)
        assert libc.unshare(0x20000) == libc.mount(b"none", b"/", None, private_below, None) == 0
        assert libc.mount(shm.encode(), b"/dev/shm", None, bind, None) == 0
""")


@dataclass(frozen=True, slots=True, kw_only=True)
class Drilled:
    """What came of one kill."""

    phase: str
    victim: str
    seconds: float  # until no process of the job was left
    exit_code: int
    left_running: int
    left_in_temporary: tuple[str, ...]
    left_in_shm: tuple[str, ...]
    said: str  # the last line that begins with "error"


def drill(
    folder: Path,
    phase: str,
    victim: str,
    *,
    watched: bool = False,
    by_torchrun: bool = False,
    workers: int = 0,
    within_s: float = GONE_S,
    warm: bool = False,
) -> Drilled:
    """Runs a training to the phase, kills the victim, and waits until nothing of the job runs.

    `by_torchrun`: it is the user who has started the ranks. `warm`: all processes are forks of one that has imported
    torch, where their start is not what is asked.
    """
    write_data(folder)
    stage = {"epochs": 2, "batch_size": 8}
    config = write_config(folder, stages={"autoencoder": stage, "operator": stage}, training={"workers": workers})
    temporary, site, reached, shm = (folder / name for name in ("temporary", "site", "reached", "shm"))
    temporary.mkdir()
    site.mkdir()
    (site / "sitecustomize.py").write_text(WAITS)
    shm.mkdir()
    mark, log = f"drill-{os.getpid()}-{folder.name}", folder / "log"
    environ = {
        "TMPDIR": str(temporary), "PYTHONPATH": str(site), "UPS_NO_DOCTOR": "" if watched else "1",
        "TORCHINDUCTOR_CACHE_DIR": str(folder / "torch"), "DRILL_PHASE": phase, "DRILL_REACHED": str(reached),
        "DRILL_RANK": victim.removeprefix("rank ") if victim.startswith("rank") else "1",
    }  # fmt: skip
    own_shm = _can(*OWN_SHM, str(shm), "true")
    command = ["train", config, "--no-preflight"]
    if warm:
        environ |= {"DRILL_SHM": str(shm)} if own_shm else {}
        process: Running | subprocess.Popen[bytes] = start(command, mark, log, environ=environ, cwd=folder)
    else:
        before = (*OWN_SHM, str(shm)) if own_shm else ()
        program = TORCHRUN if by_torchrun else PROGRAM
        process = start_from_cold(command, mark, log, environ=environ, cwd=folder, before=before, program=program)
    try:
        _await(lambda: reached.exists() and reached.read_text() != "", REACHED_S)
        rank = int(reached.read_text())
        pid = {"command": process.pid, "launcher": _parent(rank)}.get(victim, rank)
        began = time.monotonic()
        os.kill(pid, signal.SIGKILL)
        gone = _await(lambda: process.poll() is not None and not processes_marked(mark), within_s)
        seconds = time.monotonic() - began
    finally:
        stayed = processes_marked(mark)
        for one in stayed:
            os.kill(one, signal.SIGKILL)
    errors = [line for line in log.read_text().splitlines() if line.startswith(("error", "ups-doctor: The job"))]
    return Drilled(
        phase=phase, victim=victim, seconds=round(seconds, 2), exit_code=process.wait(),
        left_running=0 if gone else len(stayed),
        left_in_temporary=tuple(name for name in names(temporary) if not (by_torchrun and name.startswith(THEIRS))),
        left_in_shm=tuple(names(shm)),
        said=errors[-1] if errors else "",
    )  # fmt: skip


def row(one: Drilled) -> dict[str, object]:
    """Returns a result as JSON has it."""
    return asdict(one)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def _can(*command: str) -> bool:
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def _parent(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def _await(condition: object, deadline_s: float) -> bool:
    end = time.monotonic() + deadline_s
    while not condition():  # type: ignore[operator]
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True
