"""The job's stdin, stdout and stderr under the doctor: as without it."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from contextlib import suppress
from pathlib import Path

import pytest
from jobs import DOCTOR, facts, is_alive, output, python, run, start, until


def test_binary_output_passes_unchanged_and_both_streams_stay_apart(tmp_path: Path) -> None:
    code = "import os\nfor i in range(256): os.write(1, bytes([i]) * 997); os.write(2, bytes([255 - i]) * 3)"
    ended = run(tmp_path, *python(code), options=["--quiet"])
    assert ended.stdout == b"".join(bytes([i]) * 997 for i in range(256))
    assert ended.stderr == b"".join(bytes([255 - i]) * 3 for i in range(256))


def test_the_order_of_stdout_and_stderr_is_kept_where_both_are_one_file(tmp_path: Path) -> None:
    code = "import os\nfor i in range(2000): os.write(1 + i % 2, b'%d\\n' % i)"
    with (tmp_path / "both.txt").open("wb") as both:
        start(tmp_path, *python(code), options=["--quiet"], stdout=both, stderr=both).wait(60)
    assert (tmp_path / "both.txt").read_text().split() == [str(i) for i in range(2000)]


def test_a_shell_and_the_programs_it_starts_keep_their_order(tmp_path: Path) -> None:
    script = f"for i in 1 2 3 4 5; do echo shell $i; {sys.executable} -c 'print(\"python\")'; done"
    ended = run(tmp_path, "bash", "-c", script)
    assert ended.stdout.decode().split("\n")[:-1] == [x for i in range(1, 6) for x in (f"shell {i}", "python")]


TURNS = 6


@pytest.mark.parametrize("terminal", [False, True])
def test_a_relay_that_is_late_keeps_the_order_of_a_shell_and_its_programs(tmp_path: Path, terminal: bool) -> None:
    script = f"for i in $(seq {TURNS}); do echo shell $i; {sys.executable} -c 'print(\"python\")'; done"
    reading, writing = pty.openpty() if terminal else os.pipe()
    process = start(
        tmp_path, "bash", "-c", script, options=["--quiet"], stdin=subprocess.DEVNULL, stdout=writing, stderr=writing
    )
    os.close(writing)
    relay = until(lambda: next(iter(_children(process.pid, "relay.py")), None))
    said = b""
    while is_alive(relay):
        with suppress(ProcessLookupError):  # it has ended just now
            os.kill(relay, signal.SIGSTOP)
            time.sleep(0.05)  # late, and shorter than agents wait
            os.kill(relay, signal.SIGCONT)
        time.sleep(0.03)
        said += _there(reading)
    process.wait(60)
    said += _there(reading)
    os.close(reading)
    assert said.decode().split() == [word for i in range(1, TURNS + 1) for word in ("shell", str(i), "python")]


def _there(reading: int) -> bytes:
    """What lies in a pipe or terminal now."""
    said = b""
    try:
        while select.select([reading], [], [], 0)[0] and (data := os.read(reading, 4096)):
            said += data
    except OSError:  # the terminal's other side is closed
        return said
    return said


def _children(pid: int, named: str) -> list[int]:
    """The children of `pid` with this word on their command lines."""
    pids = map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split())
    return [child for child in pids if named in Path(f"/proc/{child}/cmdline").read_text()]


def test_a_process_whose_output_nobody_reads_ends_all_the_same(tmp_path: Path) -> None:
    script = f"{sys.executable} -c 'print(1)'; touch ended"
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    while select.select([], [writing], [], 0)[1]:
        os.write(writing, b"x" * 512)
    os.set_blocking(writing, True)
    process = start(tmp_path, "bash", "-c", script, options=["--quiet"], stdout=writing)
    os.close(writing)
    try:
        until((tmp_path / "ended").exists)
    finally:
        os.close(reading)
        code = process.wait(60)
    assert code == 0


def test_stdin_reaches_the_job(tmp_path: Path) -> None:
    ended = run(tmp_path, *python("import sys; print(sys.stdin.read().upper())"), input=b"words")
    assert ended.stdout == b"WORDS\n"


def test_each_process_has_a_copy_of_its_own_and_native_code_is_in_it(tmp_path: Path) -> None:
    child = "import os; os.system('echo native'); os.write(2, b'from the child\\n')"
    code = f"import subprocess, sys; print('parent', flush=True); subprocess.run([sys.executable, '-c', {child!r}])"
    run(tmp_path, *python(code))
    by_argv = {
        one["argv"][2]: f"{one['pid']}-{one['start_ticks']}" for one in facts(tmp_path)["processes"] if one["argv"][2:]
    }
    names = {path.name for path in (tmp_path / "report" / "record" / "output").iterdir()}
    assert output(tmp_path, f"{by_argv[code]}.stdout.txt") == "parent\n"
    (of_child,) = [name for name in names if name.endswith("stderr.txt")]
    assert output(tmp_path, of_child) == "from the child\n"
    assert output(tmp_path, of_child.replace("stderr", "stdout")) == "native\n"
    assert sorted(output(tmp_path).splitlines()) == ["from the child", "native", "parent"]


def test_redirected_output_stays_where_it_was_sent(tmp_path: Path) -> None:
    run(tmp_path, "bash", "-c", f"{sys.executable} -c 'print(1)' > file.txt; {sys.executable} -c 'print(2)' | cat")
    assert (tmp_path / "file.txt").read_text() == "1\n"
    assert output(tmp_path) == "2\n"


def test_secrets_never_reach_the_copies(tmp_path: Path) -> None:
    ended = run(tmp_path, *python("print('password=hunter2'); import sys; print('api_key=abc', file=sys.stderr)"))
    assert b"hunter2" in ended.stdout  # the terminal is the user's own
    record = b"".join(path.read_bytes() for path in (tmp_path / "report").rglob("*") if path.is_file())
    assert b"hunter2" not in record.replace(b"print('password=hunter2')", b"")
    assert "hunter2" not in output(tmp_path)


def test_the_job_notices_that_nobody_reads_its_output(tmp_path: Path) -> None:
    code = "import os\ntry:\n while True: os.write(1, b'y' * 999 + b'\\n')\nexcept BrokenPipeError: os._exit(7)"
    process = start(tmp_path, *python(code), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    assert process.stdout is not None
    process.stdout.readline()
    process.stdout.close()
    assert process.wait(60) == 7


def test_a_flood_is_passed_on_and_its_copy_is_bounded(tmp_path: Path) -> None:
    size = 300_000_000
    process = start(tmp_path, "head", "-c", str(size), "/dev/zero", options=["--quiet"], stdout=subprocess.PIPE)
    assert process.stdout is not None
    seen = 0
    while data := process.stdout.read(1 << 20):
        seen += len(data)
    process.stdout.close()
    assert (process.wait(60), seen) == (0, size)
    assert sum(path.stat().st_size for path in (tmp_path / "report").rglob("*") if path.is_file()) < 4 << 20


def test_a_job_that_closes_all_its_descriptors_goes_on(tmp_path: Path) -> None:
    code = "import os, time; os.closerange(0, 1000); time.sleep(0.3); open('done', 'w').write('yes'); os._exit(3)"
    assert run(tmp_path, *python(code)).returncode == 3
    assert (tmp_path / "done").read_text() == "yes"


def test_a_process_that_keeps_the_pipe_open_is_not_waited_for(tmp_path: Path) -> None:
    ended = run(tmp_path, "bash", "-c", "sleep 300 & echo done")
    assert (ended.returncode, ended.stdout) == (0, b"done\n")


def test_descriptors_that_we_inherited_are_the_jobs_too(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    start(tmp_path, "bash", "-c", f"echo here >&{writing}", options=["--quiet"], pass_fds=[writing]).wait(60)
    os.close(writing)
    assert os.read(reading, 100) == b"here\n"
    os.close(reading)


def test_the_job_lives_on_where_the_supervisor_is_killed(tmp_path: Path) -> None:
    code = (
        "import sys, time; print('first', flush=True); sys.stdin.readline()\n"
        "for i in range(100): print(i, 'token=hunter2', flush=True)\n"
        "open('finished', 'w').write('yes')"
    )
    process = start(tmp_path, *python(code), stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdin is not None
    assert process.stdout.readline() == b"first\n"
    process.kill()
    process.wait(30)
    process.stdin.write(b"go on\n")
    process.stdin.close()
    assert process.stdout.read().count(b"\n") == 100  # until the relay has ended
    process.stdout.close()
    assert (tmp_path / "finished").read_text() == "yes"
    until(lambda: "99 " in output(tmp_path))
    assert "hunter2" not in output(tmp_path)
    assert facts(tmp_path)["exit_code"] is None


class Session:
    """The doctor on a terminal of its own, as a shell would start it."""

    def __init__(self, tmp_path: Path, *job: str) -> None:
        self.seen = b""
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.chdir(tmp_path)
            os.execv(sys.executable, [*DOCTOR, "--report-dir", str(tmp_path / "report"), "--", *job])  # noqa: S606
        self.resize(33, 111)

    def resize(self, rows: int, columns: int) -> None:
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("4H", rows, columns, 0, 0))

    def read_until(self, words: bytes) -> bytes:
        while words not in self.seen:
            try:
                data = os.read(self.fd, 4096)
            except OSError:
                break
            self.seen += data
        assert words in self.seen
        return self.seen

    def write(self, data: bytes) -> None:
        os.write(self.fd, data)

    def end(self) -> int:
        while True:
            try:
                data = os.read(self.fd, 4096)
            except OSError:
                break
            if not data:
                break
            self.seen += data
        code = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        os.close(self.fd)
        return code


def test_on_a_terminal_the_job_has_one_with_its_size_and_follows_changes(tmp_path: Path) -> None:
    code = (
        "import os, signal, sys\n"
        "told = lambda *a: os.write(1, b'now %d %d\\n' % os.get_terminal_size(1))\n"  # print must not meet print
        "signal.signal(signal.SIGWINCH, told)\n"
        "sys.stdin.readline()\n"
        "print(*(os.isatty(fd) for fd in range(3)), *os.get_terminal_size(1), flush=True)\n"
        "while True: signal.pause()"
    )
    session = Session(tmp_path, *python(code))
    session.write(b"go\n")
    session.read_until(b"True True True 111 33\r\n")
    session.resize(44, 88)
    session.read_until(b"now 88 44\r\n")
    session.write(b"\x03")
    assert session.end() == 130


def test_a_job_can_ask_on_the_terminal(tmp_path: Path) -> None:
    session = Session(tmp_path, *python("print('hello', input('name? '))"))
    session.read_until(b"name? ")
    session.write(b"Ada\n")
    assert session.end() == 0
    assert b"hello Ada\r\n" in session.seen


def test_ctrl_c_on_the_terminal_ends_a_job_that_ignores_it(tmp_path: Path) -> None:
    code = "import signal, time; signal.signal(2, signal.SIG_IGN); print('ready', flush=True); time.sleep(300)"
    session = Session(tmp_path, *python(code))
    session.read_until(b"ready")
    session.write(b"\x03")
    session.read_until(b"once more")
    time.sleep(0.4)  # a second Ctrl-C within 0.3 s is the first one, come twice
    session.write(b"\x03")
    assert session.end() == 130
    assert facts(tmp_path)["ended_by"] == "interrupt"


def test_ctrl_z_stops_the_job_and_fg_goes_on(tmp_path: Path) -> None:
    code = (
        "import os, sys, time; print('pid', os.getpid(), flush=True)\n"
        "while not os.path.exists('stop'): time.sleep(0.02)\n"
        "print('went on', flush=True)"
    )
    process = start(tmp_path, *python(code), options=["--quiet"], stdout=subprocess.PIPE, start_new_session=True)
    assert process.stdout is not None
    pid = int(process.stdout.readline().split()[1])
    process.send_signal(signal.SIGTSTP)
    until(lambda: _state(pid) == "T" and _state(process.pid) == "T")
    process.send_signal(signal.SIGCONT)
    until(lambda: _state(pid) == "S")
    (tmp_path / "stop").touch()
    assert process.stdout.read() == b"went on\n"
    assert process.wait(30) == 0
    process.stdout.close()


def _state(pid: int) -> str:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] if is_alive(pid) else ""


@pytest.mark.parametrize("number", [signal.SIGUSR1, signal.SIGUSR2])
def test_user_signals_reach_the_job(tmp_path: Path, number: int) -> None:
    handler = f"signal.signal({int(number)}, lambda *a: sys.exit(9))"
    code = f"import signal, sys\n{handler}\nprint(1, flush=True)\nsignal.pause()"
    process = start(tmp_path, *python(code), options=["--quiet"], stdout=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.readline()
    process.send_signal(number)
    assert process.wait(30) == 9
    process.stdout.close()
