"""Runs one program once a rank, with the variables a launcher would set and without a launcher."""

from __future__ import annotations

import os
import selectors
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from diagnostics.core.own_folders import CHILDREN
from diagnostics.machine.execution.bounded_output import HeadAndTail
from diagnostics.machine.execution.child_process import environment, new_mark
from diagnostics.machine.facts import MachineError, RankResult
from diagnostics.machine.processes.descendants import end_family

TETHER = CHILDREN / "tether.py"
POLL_S = 0.05  # for kernels without pidfd_open (before 5.3)
GRACE_S = 3.0  # for the peers of a rank that failed: they say that they lost it, then they end


@dataclass
class _Rank:
    number: int
    process: subprocess.Popen[bytes]
    mark: str
    stdout: IO[bytes]
    stderr: IO[bytes]
    end: int | None  # descriptor that is readable once the process has ended
    seconds: float = 0.0
    ended: bool = False
    timed_out: bool = False

    def result(self) -> RankResult:
        code = self.process.returncode
        return RankResult(
            rank=self.number,
            pid=self.process.pid,
            returncode=code,
            signal=-code if code < 0 else None,
            answer={},
            stdout=_kept(self.stdout),
            stderr=_kept(self.stderr),
            seconds=self.seconds,
            timed_out=self.timed_out,
            ended=self.ended,
        )


def run_ranks(
    argv: Sequence[str], nproc: int, *, deadline_s: float, env: Mapping[str, str], cwd: Path | None, grace_s: float
) -> list[RankResult]:
    """Returns how each rank ended. Raises MachineError where the program cannot be started.

    After the first rank that failed, its peers have `grace_s` left.
    """
    started = time.monotonic()
    port = free_port()
    ranks: list[_Rank] = []
    try:
        for number in range(nproc):
            ranks.append(_start(argv, number, nproc, port, env, cwd))
        _watch(ranks, started, deadline_s, grace_s)
    finally:  # also on KeyboardInterrupt; a rank may leave processes behind when it ends
        for rank in ranks:
            end_family(rank.process.pid, rank.mark)
            rank.process.wait(timeout=10)
            if rank.end is not None:
                os.close(rank.end)
    return [rank.result() for rank in ranks]


def launcher_variables(rank: int, nproc: int, port: int) -> dict[str, str]:
    """Returns what torchrun tells a rank of a single node."""
    return {
        "RANK": str(rank),
        "LOCAL_RANK": str(rank),
        "WORLD_SIZE": str(nproc),
        "LOCAL_WORLD_SIZE": str(nproc),
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": str(port),
    }


def free_port() -> int:
    """Returns a TCP port nobody listens on at this moment."""
    with socket.socket() as probe:
        probe.bind(("", 0))
        return int(probe.getsockname()[1])


def _start(argv: Sequence[str], number: int, nproc: int, port: int, env: Mapping[str, str], cwd: Path | None) -> _Rank:
    mark = new_mark()
    stdout, stderr = tempfile.TemporaryFile(), tempfile.TemporaryFile()  # noqa: SIM115 - read after the end
    try:
        process = subprocess.Popen(
            [sys.executable, "-I", "-S", str(TETHER), str(os.getpid()), *argv],
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=stderr,
            env=environment({**launcher_variables(number, nproc, port), **env}, mark),
            cwd=cwd,
            start_new_session=True,
        )
    except OSError as error:
        raise MachineError(f"cannot start rank {number} of {argv[0]}: {error.strerror or error}") from error
    return _Rank(number, process, mark, stdout, stderr, _end_of(process))


def _end_of(process: subprocess.Popen[bytes]) -> int | None:
    try:
        return os.pidfd_open(process.pid)
    except (OSError, AttributeError):
        return None


def _watch(ranks: Sequence[_Rank], started: float, deadline_s: float, grace_s: float) -> None:
    """Waits until every rank has ended; ends those that are left at the deadline."""
    deadline = stop_at = started + deadline_s
    alive = list(ranks)
    while alive:
        now = time.monotonic()
        if now >= stop_at:
            for rank in alive:
                rank.ended, rank.timed_out = True, now >= deadline
                rank.seconds = now - started
                end_family(rank.process.pid, rank.mark)
            return
        _wait_for_any(alive, stop_at - now)
        for rank in [one for one in alive if one.process.poll() is not None]:
            alive.remove(rank)
            rank.seconds = time.monotonic() - started
            if rank.process.returncode != 0:
                stop_at = min(stop_at, time.monotonic() + grace_s)


def _wait_for_any(ranks: Sequence[_Rank], timeout_s: float) -> None:
    with selectors.DefaultSelector() as selector:
        watched = [rank.end for rank in ranks if rank.end is not None]
        for descriptor in watched:
            selector.register(descriptor, selectors.EVENT_READ)
        selector.select(timeout_s if len(watched) == len(ranks) else min(timeout_s, POLL_S))


def _kept(file: IO[bytes]) -> str:
    kept = HeadAndTail()
    with file:
        file.seek(0)
        while chunk := file.read(1 << 16):
            kept.add(chunk)
    return kept.text()
