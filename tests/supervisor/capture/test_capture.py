"""Captures of real processes: working, stopped, refused, without py-spy, killed for lack of memory."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import textwrap
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from diagnostics.core.frame import Frame
from diagnostics.machine.deadlines import Answers
from diagnostics.machine.facts import MachineError
from diagnostics.machine.processes.core_dumps import read_notes
from diagnostics.record.agent_bytes import AgentFileError
from diagnostics.record.record import AGENT_SITE, RunRecord, make_record_folder
from diagnostics.record.stacks import parse_outside_stacks
from diagnostics.record.supervisor_facts import Missing
from diagnostics.record.untrusted_files import read_bytes, read_json
from diagnostics.static.program.source_file import SourceFile
from diagnostics.supervisor.capture import host_facts, snapshot
from diagnostics.supervisor.capture.sources import collect_sources

PYTHON = sys.executable
SLEEPER = """
import sys, threading, time
def wait(word):
    print(word, end="", flush=True)
    while True:
        time.sleep(60)
threading.Thread(target=wait, args=("",), daemon=True).start()
wait("ready\\n")
"""


@pytest.fixture
def record(tmp_path: Path) -> Path:
    folder = tmp_path / "record"
    for name in ("agents", "captures", "sources", "output"):
        make_record_folder(folder / name)
    return folder


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., int]]:
    """Starts a program and returns its pid when it has said that it is ready."""
    started: list[subprocess.Popen[bytes]] = []

    def go(source: str, *words: str) -> int:
        script = tmp_path / f"program{len(started)}.py"
        script.write_text(source)
        started.append(subprocess.Popen([sys.executable, str(script), *words], stdout=subprocess.PIPE))
        assert started[-1].stdout is not None
        assert started[-1].stdout.readline() == b"ready\n"
        return started[-1].pid

    yield go
    for process in started:
        process.kill()
        process.communicate()


def start_ticks(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19])


def capture_of(record: Path, kind: str, pid: int) -> dict:  # type: ignore[type-arg]
    return json.loads((record / "captures" / f"{kind}-{pid}.json").read_text())  # type: ignore[no-any-return]


def skip_without_ptrace(missing: tuple[Missing, ...]) -> None:
    if any("refuses" in one.why for one in missing):
        pytest.skip(f"ptrace is refused here: {missing}")


def test_every_process_is_captured_also_one_that_is_stopped(record: Path, start: Callable[..., int]) -> None:
    first, second = start(SLEEPER, "--token", "hunter2"), start(SLEEPER)
    os.kill(second, signal.SIGSTOP)
    missing = snapshot.snapshot({pid: start_ticks(pid) for pid in (first, second)}, record, "stall")
    skip_without_ptrace(missing)
    assert missing == ()
    stacks = parse_outside_stacks((record / "captures" / f"stacks-from-outside-{second}.json").read_text())
    script = str(record.parent / "program1.py")
    assert stacks[0][-2:] == (
        Frame(file=script, line=stacks[0][-2].line, function="wait"),
        Frame(file=script, line=8, function="<module>"),
    )
    assert len(stacks) == 2
    assert [capture_of(record, "proc", pid)["state"] for pid in (first, second)] == ["S", "T"]
    state = capture_of(record, "proc", first)
    assert (state["reason"], state["thread_count"], len(state["threads"])) == ("stall", 2, 2)
    assert str(record.parent / "program0.py") not in state["files"]
    for path in (record / "captures").iterdir():
        assert path.stat().st_mode & 0o777 == 0o600
        assert "hunter2" not in path.read_text()


def test_a_process_that_computes_is_told_from_one_that_waits(record: Path, start: Callable[..., int]) -> None:
    busy, idle = start("print('ready', flush=True)\nwhile True: pass"), start(SLEEPER)
    snapshot.snapshot({busy: 0, idle: 0}, record, "stall")
    assert capture_of(record, "proc", busy)["busy"] > 0.1
    assert capture_of(record, "proc", idle)["busy"] == 0.0


def test_open_sockets_are_told_with_their_peers(record: Path, start: Callable[..., int]) -> None:
    source = """
        import socket, time
        server = socket.create_server(("127.0.0.1", 0))
        client = socket.create_connection(server.getsockname())
        peer, _ = server.accept()
        client.sendall(b"12345")
        print("ready", flush=True)
        time.sleep(60)
    """
    pid = start(textwrap.dedent(source))
    snapshot.snapshot({pid: 0}, record, "stall")
    sockets = capture_of(record, "proc", pid)["sockets"]
    assert sorted((one["state"], one["unread_bytes"]) for one in sockets) == [
        ("established", 0),
        ("established", 5),
        ("listen", 0),
    ]


def test_a_pid_that_was_reused_or_is_gone_is_left_alone(record: Path, start: Callable[..., int]) -> None:
    pid = start(SLEEPER)
    assert snapshot.snapshot({pid: start_ticks(pid) + 1, 2**22 - 1: 0}, record, "crash") == ()
    assert list((record / "captures").iterdir()) == []


def test_a_missing_py_spy_is_said_once_and_the_rest_is_captured(
    record: Path, start: Callable[..., int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    monkeypatch.setenv("PATH", "/nowhere")
    pids = [start_with(SLEEPER, start, monkeypatch) for _ in range(2)]
    assert snapshot.snapshot(dict.fromkeys(pids, 0), record, "crash") == (
        Missing(what="stacks from outside", why=snapshot.NO_PY_SPY),
    )
    assert sorted(path.name for path in (record / "captures").iterdir()) == sorted(f"proc-{pid}.json" for pid in pids)


def start_with(source: str, start: Callable[..., int], monkeypatch: pytest.MonkeyPatch) -> int:
    with monkeypatch.context() as patch:
        patch.setattr(sys, "executable", PYTHON)
        patch.setenv("PATH", os.defpath)
        return start(source)


AS_NOBODY = """
import os, sys
from pathlib import Path
from diagnostics.supervisor.capture import snapshot as capture
from diagnostics.machine.processes import python_stacks as stacks
os.setgroups([]); os.setgid(65534); os.setuid(65534)
sys.executable = sys.argv[1] + "/python"
pids = dict.fromkeys(map(int, sys.argv[2:]), 0)
print(capture.snapshot(pids, Path(sys.argv[1]), "crash"))
"""


def test_an_ordinary_user_whom_the_kernel_refuses_is_told_so_once(start: Callable[..., int]) -> None:
    if os.getuid() != 0:
        pytest.skip("needs root, to become somebody else")
    pids = [start(SLEEPER), start(SLEEPER)]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "captures").mkdir()
        shutil.copy(Path(sys.executable).with_name("py-spy"), folder / "py-spy")
        for path in (folder, folder / "captures", folder / "py-spy"):
            os.chown(path, 65534, 65534)
        argv = [sys.executable, "-c", AS_NOBODY, name, *map(str, pids)]
        child = subprocess.run(argv, capture_output=True, text=True, timeout=60, check=True)
        states = [json.loads((folder / "captures" / f"proc-{pid}.json").read_text()) for pid in pids]
        kept = sorted(path.name for path in (folder / "captures").iterdir())
    assert child.stdout.count("Missing(") == 1
    assert "stacks from outside', why='the kernel refuses to read other processes: Permission Denied" in child.stdout
    assert kept == sorted(f"proc-{pid}.json" for pid in pids)
    assert [state["state"] for state in states] == ["S", "S"]
    assert "fd: Permission denied" in states[0]["unread"]


def test_a_folder_that_cannot_be_written_is_missing_and_harms_nothing(record: Path, start: Callable[..., int]) -> None:
    pid = start(SLEEPER)
    (record / "captures").rmdir()
    (record / "captures").touch()
    missing = snapshot.snapshot({pid: 0}, record, "crash")
    assert Missing(what=f"proc-{pid}.json", why="cannot be written: Not a directory") in missing


def test_a_link_in_place_of_a_capture_is_not_followed(record: Path, start: Callable[..., int]) -> None:
    pid = start(SLEEPER)
    precious = record.parent / "precious"
    precious.write_text("mine")
    (record / "captures" / f"proc-{pid}.json").symlink_to(precious)
    snapshot.snapshot({pid: 0}, record, "crash")
    assert precious.read_text() == "mine"
    assert capture_of(record, "proc", pid)["pid"] == pid


ANSWERING = """
import os, sys, time
folder = sys.argv[1]
start = open("/proc/self/stat").read().rpartition(")")[2].split()[19]
stem = f"{os.getpid()}-{start}"
os.mkfifo(f"{folder}/flight-{stem}.fifo")
fd = os.open(f"{folder}/flight-{stem}.fifo", os.O_RDWR)
print("ready", flush=True)
if sys.argv[2] == "answers":
    os.read(fd, 1)
    open(f"{folder}/frames-{stem}.json", "w").write("{}")
time.sleep(60)
"""


def test_agents_are_asked_and_one_that_does_not_answer_is_named(record: Path, start: Callable[..., int]) -> None:
    good = start(ANSWERING, str(record / "agents"), "answers")
    bad = start(ANSWERING, str(record / "agents"), "hangs")
    (record / "agents" / "flight-1-1.fifo").write_text("no pipe, and not of the job")
    missing = snapshot.snapshot({good: start_ticks(good), bad: 0}, record, "stall")
    assert [one for one in missing if "stacks" not in one.what] == [
        Missing(what=f"flight recorder of pid {bad}", why="its agent was asked and did not answer in time")
    ]
    assert (record / "agents" / f"frames-{good}-{start_ticks(good)}.json").read_text() == "{}"


def test_a_process_inside_the_kernel_does_not_hold_up_the_snapshot(record: Path, start: Callable[..., int]) -> None:
    # A parent that vforked waits uninterruptibly for its child.
    source = """
        import ctypes, os
        print("ready", flush=True)
        libc = ctypes.CDLL(None)
        if libc.vfork() == 0:
            libc.sleep(60)
            libc._exit(0)
    """
    pid = start(textwrap.dedent(source))
    children = Path(f"/proc/{pid}/task/{pid}/children")
    deadline = time.monotonic() + 10
    while not children.read_text() and time.monotonic() < deadline:
        time.sleep(0.01)
    began = time.monotonic()
    snapshot.snapshot({pid: 0}, record, "stall", deadline_s=5)
    assert time.monotonic() - began < 6
    assert capture_of(record, "proc", pid)["state"] == "D"
    for child in children.read_text().split():
        os.kill(int(child), signal.SIGKILL)


def test_the_machine_around_a_job(record: Path, tmp_path: Path) -> None:
    around = host_facts.at_start(record, tmp_path, {"RANK": "0", "NCCL_DEBUG": "INFO", "AWS_SECRET_ACCESS_KEY": "x"})
    facts = around.facts_at_end({os.getpid()})
    around.close()
    assert facts["variables"] == {"NCCL_DEBUG": "INFO", "RANK": "0"}
    assert set(facts["limits"]) == {"nofile", "nproc", "core", "memlock", "as", "fsize"}
    assert facts["memory_bytes"] > 1 << 20
    assert facts["disks"][0].path == str(tmp_path)
    assert facts["oom_kills"] in (0, None)
    assert json.loads((record / "captures" / "memory.json").read_text()).keys() == {"groups", "least_available_bytes"}


def test_the_least_free_space_is_remembered(record: Path, tmp_path: Path) -> None:
    around = host_facts.at_start(record, tmp_path)
    size = 64 << 20
    with (tmp_path / "checkpoint.pt").open("wb") as file:
        os.posix_fallocate(file.fileno(), 0, size)
        time.sleep(0.3)  # the space is looked at each 0.1 s
    (tmp_path / "checkpoint.pt").unlink()
    around.close()
    disk = around.facts["disks"][0]
    assert disk.least_free_bytes <= disk.total_bytes
    assert disk.free_bytes - disk.least_free_bytes >= 0


MEMORY = Path("/sys/fs/cgroup/memory")


def test_a_kill_for_lack_of_memory_is_counted_and_the_kernels_line_names_the_process(record: Path) -> None:
    group = MEMORY / f"ups-doctor-test-{os.getpid()}"
    if not (MEMORY / "memory.limit_in_bytes").exists() or not os.access(MEMORY, os.W_OK) or os.getuid() != 0:
        pytest.skip("needs root and control groups of version 1")
    try:
        group.mkdir()
        (group / "memory.limit_in_bytes").write_text(str(48 << 20))
    except OSError as error:
        pytest.skip(f"no memory group can be made: {error}")
    around = host_facts.at_start(record, record)
    script = f"echo $$ > {group}/cgroup.procs; echo in; read go; exec {sys.executable} -c 'x = b\"x\" * (200 << 20)'"
    try:
        job = subprocess.Popen(["bash", "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert job.stdout is not None
        assert job.stdout.readline() == b"in\n"
        around.saw([job.pid])
        job.communicate(b"go\n", timeout=60)
        around.saw([])
        group.rmdir()  # a script that made a group removes it, too
        facts = around.facts_at_end({job.pid})
    finally:
        around.close()
        if group.exists():
            group.rmdir()
    told = json.loads((record / "captures" / "memory.json").read_text())["groups"][-1]
    assert (told["limit_bytes"], told["oom_kills"], told["pids"]) == (48 << 20, 1, [job.pid])
    assert job.returncode == -signal.SIGKILL
    assert facts["oom_kills"] == 1
    if not any(one.what == "kernel log" for one in facts["missing"]):
        ours = [line for line in facts["kernel_lines"] if f"Killed process {job.pid} " in line]
        assert len(ours) == 1
        assert ours[0].endswith(f" [pid {job.pid} is of this job]")


def test_sources_and_scripts_are_kept_with_their_lines_and_without_their_secrets(record: Path, tmp_path: Path) -> None:
    job = tmp_path / "job"
    (job / "conf").mkdir(parents=True)
    (job / "run.sh").write_text(
        "#!/bin/bash\nexport HF_TOKEN=hunter2\nsource env.sh\npython train.py --config conf/a.yaml\n"
    )
    (job / "env.sh").write_text("export WANDB_API_KEY=hunter2\n")
    (job / "conf" / "a.yaml").write_text("db_password: hunter2\nlr: 1\n")
    (job / "train.py").write_text("import helper\nTOKEN = 'hunter2'\n")
    (job / "helper.py").write_text("from parts import data\n\n\ndef go():\n    raise ValueError\n")
    (job / "parts").mkdir()
    (job / "parts" / "data.py").write_text("KEY = 1\n")  # in no call path, but imported
    (job / "big.py").write_text("#" * (600 << 10))
    (job / "fifo.sh").touch()
    (job / "fifo.sh").unlink()
    os.mkfifo(job / "fifo.sh")
    (record / "output" / "all.txt").write_text(f'Traceback:\n  File "{job}/helper.py", line 2, in go\n')
    agents_own = {"file": str(AGENT_SITE.parent / "steps.py"), "line": 1, "function": "step"}
    threads = {"threads": [{"frames": [agents_own, {"file": f"{job}/loop.py", "line": 1, "function": "loop"}]}]}
    (job / "loop.py").write_text("while True: pass\n")
    (record / "captures" / "stacks-from-outside-7.json").write_text(json.dumps(threads))
    argvs = [("bash", "run.sh"), ("python", "big.py", "fifo.sh", "/etc/passwd", "--config=conf/a.yaml")]
    assert collect_sources(record, job, argvs) == ()
    index = read_json(record / "sources" / "index.json")
    assert sorted(Path(path).relative_to(job).as_posix() for path in index) == [
        "conf/a.yaml",
        "env.sh",
        "helper.py",
        "loop.py",
        "parts/data.py",
        "run.sh",
        "train.py",
    ]
    loaded = RunRecord.load(record).sources
    assert loaded[str(job / "run.sh")].splitlines()[1] == "export HF_TOKEN=[redacted]"
    assert loaded[str(job / "train.py")] == "import helper\nTOKEN = '[redacted]'\n"
    assert "hunter2" not in "".join(loaded.values())


def test_a_folder_on_a_command_line_is_no_file_and_stays_closed(record: Path, tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    before = len(list(Path("/proc/self/fd").iterdir()))
    assert collect_sources(record, tmp_path, [("python", "train.py", "--data=data/", f"{tmp_path}/data")]) == ()
    assert (SourceFile(tmp_path / "data").text, read_notes(tmp_path / "data")) == ("", None)
    with pytest.raises(AgentFileError, match="not a regular file"):
        read_bytes(tmp_path / "data")
    assert len(list(Path("/proc/self/fd").iterdir())) == before


def test_a_process_that_has_ended_or_is_about_to_is_no_gap_in_the_captures(record: Path) -> None:
    gone = subprocess.Popen(["true"], start_new_session=True)
    os.waitid(os.P_PID, gone.pid, os.WEXITED | os.WNOWAIT)  # it has no memory any more, and is there until we wait
    assert snapshot.snapshot({gone.pid: 0}, record, "test") == ()
    said = Answers(
        results={}, errors={gone.pid: MachineError("py-spy: Failed to get process executable name")}, late=()
    )
    assert snapshot._keep(said, record / "captures", "stacks", {}, lambda value: value) == []
    alive = Answers(results={}, errors={os.getpid(): MachineError("py-spy: no")}, late=())
    assert [one.why for one in snapshot._keep(alive, record / "captures", "stacks", {}, lambda value: value)] == [
        "py-spy: no"
    ]
    gone.wait()
