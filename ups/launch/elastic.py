"""Starts ranks on this machine through torchrun's library interface, and tells how they ended."""

from __future__ import annotations

import contextlib
import logging
import math
import os
import signal
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

from ups.errors import UpsError
from ups.launch.ranks_folder import ranks_folder
from ups.launch.reports import FOLDER_VARIABLE, STOPPED, Ended, RankReport, first_failure, read, shell_code
from ups.stopping.request import SAVED_EXIT

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1, signal.SIGALRM)
STOP_S = 5  # what a rank gets to end once others have failed, before SIGKILL; all of the job is to be gone within 10 s
SAVE_S = 60  # what ranks get to save and stop; schedulers kill after 30 to 90 s
SAME_S = 0.5  # a scheduler signals every process of a job: what arrives twice is meant once


@dataclass(frozen=True, slots=True, kw_only=True)
class Launched:
    """How all ranks ended. `stopped_by` is the signal that ended the launcher, 0 without one."""

    ended: tuple[Ended, ...]
    stopped_by: int = 0

    @property
    def completed(self) -> bool:
        """Every rank exited 0 and reported that it finished, after the same number of steps."""
        reports = [one.report for one in self.ended]
        finished = all(report is not None and report.state == "finished" for report in reports)
        same = len({report.steps for report in reports if report is not None}) == 1
        return finished and same and all(one.exit_code == 0 for one in self.ended)

    @property
    def saved(self) -> str:
        """What a rank says where all of them were asked to stop and did after a checkpoint, else ""."""
        all_stopped = all(one.report is not None and one.report.state == STOPPED for one in self.ended)
        return self.reports[0].error if all_stopped and self.ended else ""

    @property
    def exit_code(self) -> int:
        """Of a run that stopped after a checkpoint its own; 128 + N for signal N; else of the rank that failed first.

        1 for a rank that never reported.
        """
        if self.completed:
            return 0
        if self.saved:
            return SAVED_EXIT
        if self.stopped_by:
            return 128 + self.stopped_by
        first = first_failure(self.ended)
        return shell_code(first.code) if first is not None else int(not self.completed)

    @property
    def reports(self) -> tuple[RankReport, ...]:
        """The reports that were written, by rank."""
        return tuple(one.report for one in self.ended if one.report is not None)


def launch(
    argv: Sequence[str],
    nproc: int,
    *,
    port: int | None = None,
    threads: int = 1,
    environ: Mapping[str, str] = os.environ,
) -> Launched:
    """Runs `python argv...` as `nproc` ranks and waits for all of them; the port is a free one by default.

    Never raises for a rank that fails. SIGTERM and SIGUSR1 to this process are passed on to the ranks, which have
    SAVE_S to save and stop; the same once more, SIGINT and others end them. Raises UpsError where this process is a
    rank itself: launchers do not nest.
    """
    if "RANK" in environ:
        raise UpsError("RANK is set: this process is a rank, and ranks do not start ranks")
    from torch.distributed.elastic.multiprocessing import DefaultLogsSpecs, SignalException
    from torch.distributed.elastic.multiprocessing.errors import ChildFailedError
    from torch.distributed.launcher.api import LaunchConfig, elastic_launch

    _quiet()
    stopped: list[int] = []

    def interrupted(number: int, frame: FrameType | None) -> None:
        # Elastic hands its signal on to the ranks: they answer SIGTERM by saving, and Python SIGINT by a traceback,
        # even while it is still starting. This one ends them in silence.
        stopped.append(number)
        raise SignalException("interrupted", sigval=signal.SIGALRM)

    passed_on = -math.inf

    def asked(number: int, frame: FrameType | None) -> None:
        nonlocal passed_on
        if time.monotonic() - passed_on < SAME_S:
            return
        ranks = [] if passed_on > 0 else list(_running(folder, nproc))
        if not ranks:
            interrupted(number, frame)
        stopped.append(number)
        passed_on = time.monotonic()
        for pid in ranks:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)
        signal.setitimer(signal.ITIMER_REAL, SAVE_S)

    with ranks_folder() as folder, _surroundings(str(folder), threads):
        options: dict[str, Any] = {
            "min_nodes": 1,
            "max_nodes": 1,
            "nproc_per_node": nproc,
            "run_id": folder.name,
            "rdzv_backend": "c10d",
            "rdzv_endpoint": f"127.0.0.1:{port or 0}",
            "local_addr": "127.0.0.1",
            "max_restarts": 0,
            "monitor_interval": 0.05,
            "shutdown_timeout": STOP_S,
            "signals_to_handle": "SIGHUP,SIGQUIT",
            "logs_specs": DefaultLogsSpecs(log_dir=str(folder / "logs")),  # by default a folder that nobody removes
        }
        known = LaunchConfig.__dataclass_fields__  # the last three are not in every torch that is new enough
        config = LaunchConfig(**{name: value for name, value in options.items() if name in known})
        signal.signal(signal.SIGINT, interrupted)
        signal.signal(signal.SIGALRM, interrupted)
        for one in (signal.SIGTERM, signal.SIGUSR1):
            signal.signal(one, asked)
        codes = dict.fromkeys(range(nproc), 0)
        try:
            elastic_launch(config, entrypoint=sys.executable)(*argv)
        except ChildFailedError as error:
            codes |= {rank: failure.exitcode for rank, failure in error.failures.items()}
        except SignalException as error:
            stopped.append(int(error.sigval))
        ended = (Ended(rank=rank, exit_code=codes[rank], report=read(folder, rank)) for rank in range(nproc))
        return Launched(ended=tuple(ended), stopped_by=stopped[0] if stopped else 0)


def _running(folder: Path, nproc: int) -> Iterator[int]:
    """Yields the processes of the ranks that have begun."""
    for rank in range(nproc):
        report = read(folder, rank)
        if report is not None:
            yield report.pid


def _quiet() -> None:
    """Silences elastic's loggers: what they have to say is said once, by us."""
    for name in list(logging.root.manager.loggerDict):
        if name.startswith("torch.distributed.elastic"):
            logging.getLogger(name).setLevel(logging.CRITICAL)


@contextlib.contextmanager
def _surroundings(folder: str, threads: int) -> Iterator[None]:
    """Sets what elastic hands on to the ranks, this process's environment, and puts it and the signals back."""
    wanted = {FOLDER_VARIABLE: folder, "OMP_NUM_THREADS": str(threads)}
    before = {name: os.environ.get(name) for name in wanted}
    handlers = {number: signal.getsignal(number) for number in SIGNALS}
    os.environ.update(wanted)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        for name, value in before.items():
            os.environ.pop(name) if value is None else os.environ.update({name: value})
        for number, handler in handlers.items():
            signal.signal(number, handler)
