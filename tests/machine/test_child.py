"""Children that flood, ignore signals and run away, with real processes."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from diagnostics.machine.execution.child_process import GroupChild
from diagnostics.machine.facts import ChildTimeout, MachineError

RUNS = """
import sys
from diagnostics.machine.execution.child_process import GroupChild
try:
    GroupChild().run(sys.argv[1:], deadline_s=30)
except KeyboardInterrupt:
    print("interrupted")
"""
DAEMON = """
import os, pathlib, sys, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        pathlib.Path(sys.argv[1]).write_text(str(os.getpid()))
        time.sleep(60)
    os._exit(0)
while not (pathlib.Path(sys.argv[1]).exists() and pathlib.Path(sys.argv[1]).read_text()):
    time.sleep(0.01)
if "stay" in sys.argv:
    time.sleep(60)
"""
STUBBORN = """
import signal, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print("ignoring", flush=True)
time.sleep(60)
"""


def python(code: str, *arguments: str) -> list[str]:
    return [sys.executable, "-c", code, *arguments]


def test_output_and_exit_code_come_back() -> None:
    result = GroupChild().run(
        python("import sys; print('out'); print('err', file=sys.stderr); sys.exit(3)"), deadline_s=20
    )
    assert (result.returncode, result.signal, result.stdout, result.stderr) == (3, None, "out\n", "err\n")


def test_a_signal_is_named() -> None:
    result = GroupChild().run(python("import os; os.kill(os.getpid(), 11)"), deadline_s=20)
    assert (result.returncode, result.signal) == (-11, signal.SIGSEGV)


def test_a_missing_program_is_one_sentence() -> None:
    with pytest.raises(MachineError, match=r"^cannot start no-such-program: No such file or directory$"):
        GroupChild().run(["no-such-program"], deadline_s=5)


def test_a_flood_keeps_its_head_and_its_tail() -> None:
    code = "import sys; print('first'); [sys.stdout.write('x' * 65536) for _ in range(200)]; print('last')"
    output = GroupChild().run(python(code), deadline_s=30).stdout
    assert output.startswith("first\n")
    assert output.endswith("last\n")
    assert "bytes left out" in output
    assert len(output) < 300_000


def test_a_child_that_ignores_sigterm_is_ended_and_its_last_words_told() -> None:
    with pytest.raises(ChildTimeout, match=r"it was ended; it last said: ignoring$"):
        GroupChild().run(python(STUBBORN), deadline_s=1)


@pytest.mark.parametrize("stay", [[], ["stay"]], ids=["after a good end", "past the deadline"])
def test_a_daemon_that_left_group_session_and_parent_is_ended(tmp_path: Path, stay: list[str]) -> None:
    note = tmp_path / "pid"
    try:
        GroupChild().run(python(DAEMON, str(note), *stay), deadline_s=3)
    except ChildTimeout:
        assert stay
    assert not psutil.pid_exists(int(note.read_text())) or not _alive(int(note.read_text()))


def test_a_grandchild_that_holds_the_pipe_does_not_hold_the_answer() -> None:
    code = (
        "import subprocess, sys; subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)']); print('done')"
    )
    result = GroupChild().run(python(code), deadline_s=30)
    assert result.stdout == "done\n"


def test_ctrl_c_ends_the_child_first(tmp_path: Path) -> None:
    note = tmp_path / "pid"
    argv = [sys.executable, "-c", RUNS, *python(DAEMON, str(note), "stay")]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) as caller:
        while not (note.exists() and note.read_text()):
            time.sleep(0.01)
        caller.send_signal(signal.SIGINT)
        said, _ = caller.communicate(timeout=30)
    assert said == "interrupted\n"
    assert not _alive(int(note.read_text()))


def test_variables_are_added_and_taken_away(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TAKEN", "yes")
    code = "import os; print(os.environ.get('TAKEN'), os.environ.get('ADDED'))"
    assert GroupChild().run(python(code), deadline_s=20, env={"TAKEN": None, "ADDED": "1"}).stdout == "None 1\n"


def _alive(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
