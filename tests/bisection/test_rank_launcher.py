from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from diagnostics.bisection.targets import watched

LAUNCHER = watched.CHILDREN / "launch_ranks.py"


def launched(code: str, nproc: int = 2) -> subprocess.CompletedProcess[str]:
    argv = [sys.executable, "-I", "-S", str(LAUNCHER), str(nproc), sys.executable, "-c", code]
    return subprocess.run(argv, capture_output=True, text=True, timeout=60, check=False)


def test_each_rank_has_what_a_launcher_sets() -> None:
    names = ("RANK", "LOCAL_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE", "MASTER_ADDR")
    code = f"import os; print(' '.join(os.environ[n] for n in {names}), os.environ['MASTER_PORT'].isdigit())"
    result = launched(code)
    assert (result.returncode, sorted(result.stdout.splitlines())) == (
        0,
        ["0 0 2 2 127.0.0.1 True", "1 1 2 2 127.0.0.1 True"],
    )


def test_the_exit_code_is_that_of_the_rank_that_failed_first() -> None:
    code = (
        "import os, signal, sys, time; os.environ['RANK'] == '1' and os.kill(os.getpid(), signal.SIGSEGV); sys.exit(0)"
    )
    assert launched(code).returncode == 128 + signal.SIGSEGV
    assert launched("import sys; sys.exit(3)").returncode == 3


def test_no_rank_outlives_a_launcher_that_is_killed(tmp_path: Path) -> None:
    code = f"import os, time; open(r'{tmp_path}/' + os.environ['RANK'], 'w').write(str(os.getpid())); time.sleep(60)"
    launcher = subprocess.Popen([sys.executable, "-I", "-S", str(LAUNCHER), "2", sys.executable, "-c", code])
    until = time.monotonic() + 30
    while time.monotonic() < until and [path.stat().st_size > 0 for path in tmp_path.iterdir()] != [True, True]:
        time.sleep(0.02)
    pids = [int(path.read_text()) for path in tmp_path.iterdir()]
    launcher.kill()
    launcher.wait()
    while time.monotonic() < until and any(alive(pid) for pid in pids):
        time.sleep(0.02)
    assert [alive(pid) for pid in pids] == [False, False]


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
        return "Z" not in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[:1]
    except (ProcessLookupError, FileNotFoundError):
        return False
