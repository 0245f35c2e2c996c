"""Who sent which signal, who started whom, how children ended, and what the interpreter waited for."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

KINDS = ("kill", "child", "child-end", "thread", "atexit", "alive-at-end", "dropped")

FAMILY = """
    import atexit, multiprocessing, os, signal, subprocess, sys, threading, time
    fork = multiprocessing.get_context("fork")
    def leave(code): os._exit(code)
    def wait_for_it(event): event.wait()
    def bye(): pass
    def main():
        popen = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)", "--token=abcdefgh"])
        popen.terminate(); popen.wait()
        process = fork.Process(target=time.sleep, args=(60,)); process.start()
        process.kill(); process.join(); second = process.pid
        process = fork.Process(target=leave, args=(5,)); process.start(); process.join()
        children = []
        for wait in (lambda pid: os.waitpid(pid, 0), lambda pid: os.wait(), lambda pid: os.wait3(0),
                     lambda pid: os.wait4(pid, 0), lambda pid: os.waitid(os.P_PID, pid, os.WEXITED)):
            pid = os.fork()
            if not pid: time.sleep(60)
            os.kill(pid, signal.SIGKILL)
            wait(pid)
            children.append(pid)
        signal.signal(signal.SIGUSR1, lambda *_: None)
        signal.raise_signal(signal.SIGUSR1)
        signal.pthread_kill(threading.get_ident(), signal.SIGUSR1)
        os.kill(os.getpid(), 0)
        print(os.getpid(), popen.pid, second, process.pid, *children)
    main()
    atexit.register(bye)
    event = threading.Event()
    thread = threading.Thread(target=wait_for_it, args=(event,), name="writer"); thread.start()
    timer = threading.Timer(0.2, event.set); timer.daemon = True; timer.start()
"""
VERSIONS = ["3.8", "3.9", "3.10", "3.11", "3.12", "3.13"]


@pytest.mark.parametrize("version", VERSIONS)
def test_signals_children_and_threads_are_recorded_with_their_lines(watch, version):
    run = watch(FAMILY, python=(python(version), "-W", "ignore::DeprecationWarning"))
    assert run.returncode == 0, run.stderr
    me, popen, second, process, *forked = map(int, run.stdout.split())
    agent = run.record.of_pid(me)
    events = [
        (event.kind, words(event.text), [frame.line for frame in event.path])
        for event in agent.events
        if event.kind in KINDS
    ]
    assert [entry for entry in events if entry[0] not in ("thread", "alive-at-end")] == [
        ("child", f"pid={popen} how=popen reads=1", [8, 26]),
        ("kill", f"pid={popen} signal=15 how=terminate", [9, 26]),
        ("child-end", f"pid={popen} signal=15", []),
        ("child", f"pid={second} how=process reads=1", [10, 26]),
        ("kill", f"pid={second} signal=9 how=terminate", [11, 26]),
        ("child-end", f"pid={second} signal=9", []),
        ("child", f"pid={process} how=process reads=1", [12, 26]),
        ("child-end", f"pid={process} code=5", []),
        *(
            event
            for pid in forked
            for event in (
                ("child", f"pid={pid} how=fork reads=1", [16, 26]),
                ("kill", f"pid={pid} signal=9 how=os.kill", [18, 26]),
                ("child-end", f"pid={pid} signal=9", []),
            )
        ),
        ("kill", f"pid={me} signal=10 how=signal.raise_signal", [22, 26]),
        ("kill", f"pid={me} signal=10 how=signal.pthread_kill", [23, 26]),
        ("atexit", "__main__.bye", [27]),
    ]
    started, waited_for = (event for event in agent.events if event.kind in ("thread", "alive-at-end"))
    assert started.text.partition(" ")[2] == "daemon=0 | writer __main__.wait_for_it"
    assert (waited_for.kind, waited_for.text) == ("alive-at-end", "daemon=0 | writer")
    assert [frame.line for frame in waited_for.path] == [frame.line for frame in started.path] == [29]
    assert "--token=[redacted]" in next(event.text for event in agent.events if event.kind == "child")


def first(run):
    """Returns the file of the process that began first; numbers of processes wrap around."""
    return min(run.record.agents, key=lambda agent: agent.started_ns)


def words(text: str) -> str:
    return text.partition(" |")[0]


def python(version: str) -> str:
    """Returns an interpreter of this version, from pyenv or on PATH."""
    found = sorted(Path.home().glob(f".pyenv/versions/{version}.*/bin/python{version}"))
    for path in [*map(str, found), shutil.which(f"python{version}")]:
        if path and subprocess.run([path, "-c", "pass"], capture_output=True, check=False).returncode == 0:
            return path
    pytest.skip(f"no python{version} on this machine")


def test_a_signal_to_a_group_has_a_negative_pid(watch):
    run = watch(
        "import os\nif os.fork() == 0:\n    os.setpgid(0, 0)\n    os.killpg(os.getpgid(0), 9)\nprint(os.wait()[0])"
    )
    child = run.record.of_pid(int(run.stdout))
    (kill,) = (event for event in child.events if event.kind == "kill")
    assert (kill.text, kill.path[0].line) == (f"pid={-child.pid} signal=9 how=os.killpg", 4)


def test_a_launchers_file_holds_the_true_end_of_each_rank(watch):
    run = watch(
        """
        import os, sys
        from torch.distributed import run
        run.main(["--nproc-per-node=2", "--rdzv-endpoint=localhost:0", "--rdzv-backend=c10d", "rank.py"])
        """,
        files={
            "rank.py": """
                import os, time
                if os.environ["RANK"] == "1": os.kill(os.getpid(), 11)
                time.sleep(60)
            """
        },
    )
    assert run.returncode == 1
    ranks = {rank: run.record.of_rank(rank).pid for rank in (0, 1)}
    launcher = first(run)
    ends = [event.text for event in launcher.events if event.kind == "child-end"]
    assert sorted(ends) == sorted([f"pid={ranks[1]} signal=11", f"pid={ranks[0]} signal=15"])
    assert f"pid={-ranks[0]} signal=15 how=os.killpg" in [e.text for e in launcher.events if e.kind == "kill"]


def test_a_shell_command_has_a_line_and_an_end_though_no_number(watch):
    run = watch("import os\nos.system('exit 3; HF_TOKEN=abcdefgh')\nos.system('kill -9 $$')")
    assert run.returncode == 0
    agent = first(run)
    assert [(event.kind, event.text, [frame.line for frame in event.path]) for event in agent.events[:-1]] == [
        ("child", "pid=0 how=system reads=1 | exit 3; HF_TOKEN=[redacted]", [2]),
        ("child-end", "pid=0 code=3", []),
        ("child-read", "pid=0 how=system", [2]),
        ("child", "pid=0 how=system reads=1 | kill -9 $$", [3]),
        ("child-end", "pid=0 signal=9", []),
        ("child-read", "pid=0 how=system", [3]),
    ]


def test_ends_that_a_forkserver_is_told_stand_in_its_file(watch):
    run = watch(
        """
        import multiprocessing, os
        def leave(): os._exit(7)
        if __name__ == "__main__":
            process = multiprocessing.get_context("forkserver").Process(target=leave)
            process.start(); process.join(); print(process.pid)
        """
    )
    pid = int(run.stdout)
    assert f"pid={pid} code=7" in [e.text for agent in run.record.agents for e in agent.events if e.kind == "child-end"]
    assert [event.value for event in run.record.of_pid(pid).events if event.kind.endswith("_exit")] == [7]


def test_a_job_that_forks_without_end_is_told_of_in_bounds(watch):
    run = watch(
        """
        import os
        for _ in range(200):
            pid = os.fork()
            if not pid: os._exit(0)
            os.waitpid(pid, 0)
            os.kill(os.getpid(), 28)
        pid = os.fork()
        if not pid: os._exit(3)
        os.waitpid(pid, 0)
        print("done")
        """
    )
    assert (run.returncode, run.stdout, run.stderr) == (0, "done\n", "")
    parent = first(run)
    kinds = [event.kind for event in parent.events]
    assert (kinds.count("child"), kinds.count("child-end"), parent.dropped_events) == (48, 25, 0)
    assert kinds.count("kill") == 8
    assert parent.events[-4].text.endswith(" code=3")
    assert [event.text for event in parent.events[-2:]] == ["child=153 child-end-clean=176 kill-mild=192", ""]


@pytest.mark.parametrize(("status", "value"), [('"no data"', 1), ("None", 0), ("", 0), ("3", 3), ("False", 0)])
def test_what_sys_exit_is_given_is_recorded_as_the_code_that_python_makes_of_it(watch, status, value):
    run = watch(f"import sys; sys.exit({status})")
    (agent,) = run.record.agents
    assert [event.value for event in agent.events if event.kind == "sys.exit"] == [value]
    assert run.returncode == value
