"""Puts one host's report and record into a folder that all hosts see; the job never waits for that folder.

When it starts, a host leaves host.json: that is how a host which was cut off later is missed by name.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from contextlib import suppress
from itertools import pairwise
from pathlib import Path

import psutil

from diagnostics.machine.processes.job_processes import OWN

COPY_S = 20.0
HOST_FILE = "host.json"


class HostShare:
    """One doctor's part of a shared folder, by run id, host, pid and start time."""

    def __init__(self, shared: Path, command: tuple[str, ...], environ: Mapping[str, str] = os.environ) -> None:
        self.host = socket.gethostname()
        started_s = time.time()
        self.facts = {
            "schema": 1,
            "host": self.host,
            "pid": os.getpid(),
            "started_s": started_s,
            "run_id": run_id(environ, command),
            "node_rank": environ.get("SLURM_NODEID") or environ.get("GROUP_RANK") or "",
            "addresses": addresses(),
        }
        self.folder = shared / f"{self.facts['run_id']}-{self.host}-{os.getpid()}-{int(started_s)}"

    def arrive(self) -> None:
        """Leaves host.json there; not waited for."""
        place = Path(tempfile.mkdtemp(prefix="ups-doctor-share-"))
        (place / HOST_FILE).write_text(json.dumps(self.facts), encoding="utf-8")
        self._arrival, self._place = self._copy(place), place

    def bring(self, report: Path) -> str:
        """Copies the report's folder; returns "" or why it could not be, at the latest after `COPY_S` seconds."""
        problem = _ended(self._arrival, COPY_S) or _ended(self._copy(report), COPY_S)
        with suppress(OSError):
            (self._place / HOST_FILE).unlink()
            self._place.rmdir()
        return problem

    def _copy(self, source: Path) -> subprocess.Popen[str]:
        words = [sys.executable, "-P", "-m", "diagnostics.cluster.copying", str(source), str(self.folder)]
        return subprocess.Popen(
            words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
            env={**os.environ, OWN: str(os.getpid())},  # no part of the job, whose end would be told
            start_new_session=True,  # Ctrl-C ends the job, and what is known of it is still brought away
        )  # fmt: skip


def _ended(process: subprocess.Popen[str], within_s: float) -> str:
    try:
        _, said = process.communicate(timeout=within_s)
    except subprocess.TimeoutExpired:  # one that waits for a dead disk cannot be ended before the disk answers
        process.kill()
        return f"the shared folder did not answer within {within_s:.0f} s"
    return said.strip() if process.returncode else ""


def run_id(environ: Mapping[str, str], command: tuple[str, ...]) -> str:
    """Returns what all hosts of one run have in common: Slurm's job and its requeues, or torchrun's --rdzv-id."""
    if job := environ.get("SLURM_JOB_ID", ""):
        again = environ.get("SLURM_RESTART_COUNT", "0")
        return f"slurm{job}" + (f".{again}" if again != "0" else "")
    words = [part for word in command for part in word.split("=", 1)]
    ids = [after for word, after in pairwise(words) if word in ("--rdzv-id", "--rdzv_id")]
    kept = "".join(char if char.isalnum() or char in "._" else "_" for char in (ids or ["run"])[0])
    return kept[:64] or "run"


def addresses() -> list[str]:
    """Returns the host's own addresses without loopback: lost connections name peers by them."""
    found = [one.address for each in psutil.net_if_addrs().values() for one in each if one.family == socket.AF_INET]
    return sorted({one for one in found if not one.startswith("127.")})
