"""Runs as sources leave them, made by their own writers or really run and really killed."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

FILES = Path(__file__).parent / "files"
# Writes events as training does and stays; the name of the file holds host and process.
TENSORBOARD = """\
import sys, time
from tensorboard.compat.proto.event_pb2 import Event
from tensorboard.compat.proto.summary_pb2 import Summary
from tensorboard.summary.writer.event_file_writer import EventFileWriter
writer = EventFileWriter(sys.argv[1])
for step in range(int(sys.argv[2])):
    value = Summary(value=[Summary.Value(tag="loss", simple_value=1.0)])
    writer.add_event(Event(wall_time=time.time(), step=step, summary=value))
writer.flush()
print("written", flush=True)
sys.stdin.read()
"""


@contextmanager
def tensorboard_job(folder: Path, rows: int) -> Iterator[subprocess.Popen[str]]:
    """Runs a process that has written so many rows and then stands still."""
    words = [sys.executable, "-W", "ignore", "-c", TENSORBOARD, str(folder), str(rows)]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as job:
        assert job.stdout is not None
        assert job.stdout.readline() == "written\n"
        yield job
        job.kill()


def jsonl(folder: Path, name: str, rows: int, **config: object) -> Path:
    """Writes a folder with metrics.jsonl and config.yaml."""
    (folder / name).mkdir(parents=True)
    lines = [json.dumps({"step": step, "loss": 1.0, "time": 1_790_000_000.0 + step}) for step in range(rows)]
    (folder / name / "metrics.jsonl").write_text("".join(f"{line}\n" for line in lines))
    (folder / name / "config.yaml").write_text(json.dumps(config))
    return folder / name


def table(output: str) -> list[Sequence[str]]:
    """Returns the rows of a table on a terminal as (run, verdict)."""
    lines = output.split("\n\n")[0].splitlines()[1:]
    return [(line.split()[0], line.split("  ")[-1].strip()) for line in lines]
