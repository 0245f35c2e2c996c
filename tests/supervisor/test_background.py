"""What trains on after the command has ended is watched to its end, services stay, other leftovers are ended."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from jobs import facts, is_alive, output, report, run, start, until

TRAIN = """
import sys, time
import torch
model = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(8):
    optimizer.zero_grad()
    model(torch.ones(2, 4)).sum().backward()
    optimizer.step()
    time.sleep(0.1)
open("done", "w").close()
if len(sys.argv) > 1:
    raise KeyError("lr")
"""


@pytest.mark.parametrize(("words", "code"), [("", 0), ("fail", 70)])
def test_a_training_in_the_background_is_watched_to_its_end(tmp_path: Path, words: str, code: int) -> None:
    (tmp_path / "train.py").write_text(TRAIN)
    ended = run(tmp_path, "bash", "-c", f"nohup {sys.executable} train.py {words} > log 2>&1 &")
    assert b"CMD has ended, 1 training process goes on; watching it" in ended.stderr
    assert (tmp_path / "done").exists()
    assert ended.returncode == code
    assert facts(tmp_path)["sent"] == []
    told = report(tmp_path)
    assert (told["outcome"], told["location"]) == (("crash", "train.py:13") if words else ("ok", None))


DAEMON = """
import os
if os.fork():
    os._exit(0)
os.setsid()
if os.fork():
    os._exit(0)
null = os.open(os.devnull, os.O_RDWR)
for fd in range(3):
    os.dup2(null, fd)
open("daemon", "w").close()
os.execvp("sleep", ["sleep", "290"])
"""
# One process of each kind that a script leaves behind; each sleeps for another time, by which it is told.
LEAVE = """
"$PYTHON" daemon.py
nohup sleep 291 > log 2>&1 &
setsid sleep 292 > log 2>&1 &
setsid sleep 293 &
sleep 294 > log 2>&1 &
RANK=1 setsid sleep 295 > log 2>&1 &
until [ -e daemon ]; do sleep 0.02; done
for seconds in 291 292 293 294 295; do until pgrep -P $$ -xf "sleep $seconds" > /dev/null; do sleep 0.02; done; done
"""
SERVICES = {"290": "", "291": "", "292": ""}
TIED = {"293": "it has CMD's output open", "294": "it is in CMD's session", "295": "it is a rank (RANK=1)"}


def left_behind(tmp_path: Path, *options: str) -> tuple[dict[str, tuple[bool, int]], list[str]]:
    """Runs the script; returns {seconds of the sleep: (whether it lives, its pid)} and what the doctor said of them."""
    (tmp_path / "daemon.py").write_text(DAEMON)
    environ = {"PYTHON": sys.executable}
    with (tmp_path / "said").open("wb") as said:  # a pipe would be waited for as long as somebody holds it
        code = start(
            tmp_path, "bash", "-c", LEAVE, options=options, stdout=said, stderr=said, env={**os.environ, **environ},
            preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL),  # under nohup all processes are deaf to it
        ).wait(60)  # fmt: skip
    assert code == 0
    found = {
        one["argv"][1]: (is_alive(one["pid"]), one["pid"])
        for one in facts(tmp_path)["processes"]
        if one["argv"][:1] == ["sleep"] and one["argv"][1].startswith("29")
    }
    for alive, pid in found.values():
        if alive:
            os.kill(pid, signal.SIGKILL)
    assert report(tmp_path)["outcome"] == "ok"
    lines = (tmp_path / "said").read_text().splitlines()
    return found, sorted(line.removeprefix("ups-doctor: ") for line in lines if "sleep 29" in line)


def test_services_go_on_and_what_is_ended_is_named_with_the_reason(tmp_path: Path) -> None:
    found, said = left_behind(tmp_path)
    assert {seconds: alive for seconds, (alive, _) in found.items()} == {
        **dict.fromkeys(SERVICES, True), **dict.fromkeys(TIED, False)
    }  # fmt: skip
    assert said == sorted(
        [f"pid {found[one][1]} (sleep {one}) goes on without CMD; the doctor leaves it alone" for one in SERVICES]
        + [f"ending pid {found[one][1]} (sleep {one}), which CMD left: {why}" for one, why in TIED.items()]
    )
    assert {one["pid"] for one in facts(tmp_path)["sent"]} == {found[one][1] for one in TIED}


@pytest.mark.parametrize(
    ("option", "alive", "words"),
    [
        ("--keep-background", True, "pid {} (sleep {}) goes on without CMD; the doctor leaves it alone"),
        ("--end-background", False, "ending pid {} (sleep {}), which CMD left: --end-background"),
    ],
)
def test_all_are_kept_or_ended_on_request(tmp_path: Path, option: str, alive: bool, words: str) -> None:
    found, said = left_behind(tmp_path, option)
    assert {seconds: lives for seconds, (lives, _) in found.items()} == dict.fromkeys({**SERVICES, **TIED}, alive)
    named = sorted(words.format(pid, seconds) for seconds, (_, pid) in found.items())
    assert len(said) == 5
    assert set(said) < set(named)
    assert bool(facts(tmp_path)["sent"]) is not alive


def test_both_requests_at_once_are_refused(tmp_path: Path) -> None:
    ended = run(tmp_path, "true", options=["--keep-background", "--end-background"])
    assert (ended.returncode, ended.stdout) == (2, b"")
    assert ended.stderr == b"error: --keep-background and --end-background exclude each other\n"


def test_what_is_kept_goes_on_writing_where_the_job_wrote_after_the_doctor_has_gone(tmp_path: Path) -> None:
    writer = "import os, time\nwhile not os.path.exists('go'): time.sleep(0.02)\nprint('still here', flush=True)"
    script = f'echo first; {sys.executable} -c "{writer}" 2> /dev/null & sleep 0.2'
    process = start(
        tmp_path, "bash", "-c", script, options=["--keep-background", "--quiet"], stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )  # fmt: skip
    assert process.stdout is not None
    assert process.stderr is not None
    assert process.wait(60) == 0
    assert process.stderr.read() == b""  # its reader does not wait for who writes to stdout
    assert output(tmp_path) == "first\n"
    (tmp_path / "go").touch()
    assert process.stdout.read() == b"first\nstill here\n"
    process.stdout.close()
    process.stderr.close()


def test_a_service_makes_no_records_after_the_job(tmp_path: Path) -> None:
    agents = tmp_path / "report" / "record" / "agents"
    service = (
        "until [ -e go ]; do sleep 0.02; done; "
        f"{sys.executable} -c 'import sys; print(len(sys.path))' > said; mv said told"
    )
    (tmp_path / "service.sh").write_text(f"exec > log 2>&1; touch there; {service}")
    waits = "setsid -f bash service.sh; until [ -e there ]; do sleep 0.02; done"
    assert run(tmp_path, "bash", "-c", waits).returncode == 0
    before = sorted(agents.iterdir())
    (tmp_path / "go").touch()
    until((tmp_path / "told").exists)
    assert sorted(agents.iterdir()) == before


# A launcher as torchrun is: each rank in a session of its own, its output in a file.
LAUNCH = """
import os, subprocess, sys, time
ranks = []
for rank in "01":
    environ = {**os.environ, "RANK": rank, "LOCAL_RANK": rank, "WORLD_SIZE": "2"}
    code = "import multiprocessing, time; multiprocessing.Process(target=time.sleep, args=(280,)).start()"
    log = open("log", "w")
    argv = [sys.executable, "-c", code]
    ranks.append(subprocess.Popen(argv, env=environ, stdout=log, stderr=log, start_new_session=True))
children = [f"/proc/{rank.pid}/task/{rank.pid}/children" for rank in ranks]
while not all(open(name).read() for name in children):
    time.sleep(0.02)
os.kill(os.getpid(), 9)
"""


def test_ranks_and_workers_that_lost_their_launcher_are_no_services(tmp_path: Path) -> None:
    (tmp_path / "launch.py").write_text(LAUNCH)
    ended = run(tmp_path, sys.executable, "launch.py")
    assert ended.returncode == 128 + signal.SIGKILL
    assert [one for one in facts(tmp_path)["processes"] if is_alive(one["pid"])] == []
    said = [line for line in ended.stderr.decode().splitlines() if "which CMD left" in line]
    assert sorted(line.partition(", which CMD left: ")[2] for line in said)[:2] == [
        "it is a rank (RANK=0)", "it is a rank (RANK=1)"
    ]  # fmt: skip
    assert len(said) == 4


def test_a_service_outlives_ctrl_c_as_it_does_without_us(tmp_path: Path) -> None:
    script = "setsid sleep 285 > log 2>&1 & echo $!; sleep 286"
    process = start(tmp_path, "bash", "-c", script, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    assert process.stdout is not None
    pid = int(process.stdout.readline())
    until(lambda: Path(f"/proc/{pid}/cmdline").read_bytes() == b"sleep\000285\0")
    process.send_signal(signal.SIGTERM)
    assert process.wait(60) == 143
    process.stdout.close()
    assert is_alive(pid)
    os.kill(pid, signal.SIGKILL)


def test_another_leftover_is_ended_as_before(tmp_path: Path) -> None:
    (tmp_path / "monitor.py").write_text("import time\ntime.sleep(60)\n")
    began = time.monotonic()
    ended = run(tmp_path, "bash", "-c", f"{sys.executable} monitor.py > log 2>&1 &")
    assert (ended.returncode, b"CMD has ended" in ended.stderr) == (0, False)
    assert b"monitor.py), which CMD left: it is in CMD's session" in ended.stderr
    assert time.monotonic() - began < 30
    assert [one["why"] for one in facts(tmp_path)["sent"]] == ["leftover"]


SERVE = """
import multiprocessing, os, sys, time

def work():
    os.replace("serving.part", "serving")
    time.sleep(270)

if __name__ == "__main__":
    worker = multiprocessing.get_context(sys.argv[1]).Process(target=work)
    open("serving.part", "w").close()
    worker.start()
    worker.join()
"""


@pytest.mark.parametrize(("method", "count"), [("spawn", 3), ("forkserver", 4)])
def test_the_workers_of_a_service_go_on_with_it(tmp_path: Path, method: str, count: int) -> None:
    (tmp_path / "serve.py").write_text(SERVE)
    serve = f"setsid {sys.executable} serve.py {method} > log 2>&1 < /dev/null &"
    ended = run(tmp_path, "bash", "-c", f"{serve} until [ -e serving ]; do sleep 0.02; done")
    seen = [one["pid"] for one in facts(tmp_path)["processes"] if one["argv"][:1] == [sys.executable]]
    alive = [pid for pid in seen if is_alive(pid)]
    for pid in alive:
        os.kill(pid, signal.SIGKILL)
    assert (ended.returncode, len(alive), sorted(alive)) == (0, count, sorted(seen))
    assert facts(tmp_path)["sent"] == []
    assert ended.stderr.decode().count("goes on without CMD; the doctor leaves it alone") == count


def test_a_service_that_loads_torch_is_no_training_and_nobody_waits_for_it(tmp_path: Path) -> None:
    (tmp_path / "torch.py").touch()
    (tmp_path / "serve.py").write_text("import time\nimport torch\nopen('serving', 'w').close()\ntime.sleep(260)\n")
    serve = f"setsid {sys.executable} serve.py > log 2>&1 < /dev/null &"
    process = start(
        tmp_path, "bash", "-c", f"{serve} until [ -e serving ]; do sleep 0.02; done", stderr=subprocess.PIPE
    )
    _, said = process.communicate(timeout=60)
    (pid,) = [one["pid"] for one in facts(tmp_path)["processes"] if one["argv"][1:] == ["serve.py"]]
    alive = is_alive(pid)
    os.kill(pid, signal.SIGKILL)
    assert (process.returncode, alive, b"watching it" in said) == (0, True, False)
    (line,) = [one for one in said.decode().splitlines() if one.startswith(f"ups-doctor: pid {pid} (")]
    assert line.endswith(") goes on without CMD; the doctor leaves it alone")


WAITS = """
import time
import torch
import loop
open("begun", "w").close()
while not torch.ready():
    time.sleep(0.02)
"""
LOOP = "def train(model, optimizer):\n    model().backward()\n    optimizer.step()\n"


def test_a_training_that_has_made_no_step_yet_is_known_by_its_source(tmp_path: Path) -> None:
    (tmp_path / "torch.py").write_text("import os\ndef ready(): return os.path.exists('go')\n")
    (tmp_path / "loop.py").write_text(LOOP)
    (tmp_path / "train.py").write_text(WAITS)
    process = start(
        tmp_path, "bash", "-c", f"setsid {sys.executable} train.py > log 2>&1 < /dev/null &", stderr=subprocess.PIPE
    )
    assert process.stderr is not None
    assert process.stderr.readline() == b"ups-doctor: CMD has ended, 1 training process goes on; watching it\n"
    (tmp_path / "go").touch()
    process.communicate(timeout=60)
    assert (process.returncode, facts(tmp_path)["sent"]) == (0, [])
