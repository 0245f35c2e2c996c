"""Runs a job under the agent, follows it to its end, and leaves a record of it. (Being widened.)"""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from diagnostics import redact
from diagnostics.analysis.job_facts import End, JobFacts, SeenProcess
from diagnostics.machine.tails import HeadAndTail
from diagnostics.record import agent_environment, make_record_folder
from diagnostics.report import new_folder, write_whole


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchOptions:
    """What the user asked for."""

    report_dir: Path | None = None


def watch(command: Sequence[str], options: WatchOptions) -> int:
    """Runs `command` and returns the exit code of the doctor."""
    folder = make_record_folder(options.report_dir) if options.report_dir else new_folder(Path("reports"), kind="run")
    record = folder / "record"
    for name in ("agents", "output", "captures", "sources"):
        make_record_folder(record / name)
    started_ns, began = time.time_ns(), time.monotonic()
    environ = {**os.environ, **agent_environment(record / "agents")}
    process = subprocess.Popen(
        list(command), env=environ, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, process_group=0
    )
    kept = HeadAndTail()
    assert process.stdout is not None
    while data := os.read(process.stdout.fileno(), 1 << 16):
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
        kept.add(data)
    code = process.wait()
    ended = time.monotonic() - began
    (record / "output" / "all.txt").write_text(redact.text(kept.text()), encoding="utf-8")
    end = End(
        exit_code=code if code >= 0 else None,
        signal=-code if code < 0 else None,
        at_s=ended,
        source="supervisor-wait",
    )
    argv = tuple(redact.line(word) for word in command)
    facts = JobFacts(
        command=argv,
        cwd=str(Path.cwd()),
        started_ns=started_ns,
        python=sys.executable,
        ended_s=ended,
        exit_code=end.exit_code,
        signal=end.signal,
        processes=(SeenProcess(pid=process.pid, start_ticks=0, ppid=os.getpid(), argv=argv, end=end),),
        variables=redact.environment(os.environ),
    )
    write_whole(record / "job.json", json.dumps(asdict(facts), indent=1) + "\n")
    try:
        diagnose = importlib.import_module("diagnostics.diagnose")
    except ModuleNotFoundError:
        sys.stderr.write(f"ups-doctor: no diagnosis yet; the record is in {folder}\n")
        return code if code >= 0 else 128 - code
    report = diagnose.diagnose(folder)
    sys.stderr.write(f"report: {folder}\n")
    return int(report.exit_code)
