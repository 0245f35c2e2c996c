"""`ups-doctor audit --watch` as a real process: what it shows after a change, and how it ends."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from diagnostics.audit import watch
from diagnostics.audit.run import AuditOptions, run

PROGRAM = "import sys; from diagnostics.cli import main; sys.argv[0] = 'ups-doctor'; main()"
GUARDED = """\
import torch.distributed as dist

dist.init_process_group("gloo")
if dist.get_rank() == 0:
    dist.barrier()
dist.destroy_process_group()
"""


@pytest.fixture
def watching(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    (tmp_path / "train.py").write_text(GUARDED)
    words = [sys.executable, "-c", PROGRAM, "audit", "--watch", "--no-cache", "--jobs", "1", "."]
    with subprocess.Popen(words, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as one:
        yield one
        one.kill()


def said_until(process: subprocess.Popen[str], last: str) -> list[str]:
    """Returns what the process says up to a line that begins like this."""
    assert process.stdout is not None
    lines = []
    for line in process.stdout:
        lines.append(line.rstrip())
        if line.startswith(last):
            return lines
    raise AssertionError(f"it ended without {last!r}: {lines}")


def test_each_change_is_audited_again_until_ctrl_c(watching: subprocess.Popen[str], tmp_path: Path) -> None:
    first = said_until(watching, "watching")
    assert any("A201" in line for line in first)
    assert first[-1] == "watching 1 files; Ctrl-C ends"
    (tmp_path / "train.py").write_text(GUARDED.replace("if dist.get_rank() == 0:\n    ", ""))
    second = said_until(watching, "watching")
    assert second[0] == "changed: train.py"
    assert not any("A201" in line for line in second)
    (tmp_path / "data.py").write_text("x = 1\n")
    assert said_until(watching, "watching")[-1] == "watching 2 files; Ctrl-C ends"
    watching.send_signal(signal.SIGINT)
    assert watching.wait(timeout=30) == 130


def test_a_file_that_is_gone_is_a_change(tmp_path: Path) -> None:
    one, other = tmp_path / "a.py", tmp_path / "b.py"
    one.write_text("")
    before = watch.state([tmp_path], lambda shown: False)
    one.unlink()
    other.write_text("")
    assert watch.wait([tmp_path], before, lambda shown: False, every_s=0.01) == [one, other]


def test_watching_reads_the_files_that_an_audit_reads(tmp_path: Path) -> None:
    for name in ("a.py", "run.sh", "Makefile", "note.txt", "build/b.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("")
    audited = {Path(one.shown).resolve() for one in run(AuditOptions(paths=(tmp_path,), jobs=1)).files}
    assert {path.resolve() for path in watch.state([tmp_path], lambda shown: False)} == audited
