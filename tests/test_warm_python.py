"""A fork of the warm Python is a process as any other: its streams, environment, folder, code and death are its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from warm_python import main_program, python, start

FACTS = """
import os, random, signal, sys
print(sys.argv, os.getcwd(), os.environ["MINE"], __name__, sys.path[0], "ups.launch.rank" in sys.modules)
print(signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM), file=sys.stderr)
"""


@pytest.mark.parametrize("form", ["-c", "-m", "file"])
def test_a_program_sees_what_an_interpreter_of_its_own_would_show_it(tmp_path: Path, form: str) -> None:
    (tmp_path / "facts.py").write_text(FACTS)
    argv = {"-c": ["-c", FACTS], "-m": ["-m", "facts"], "file": [str(tmp_path / "facts.py")]}[form]
    env = {**os.environ, "MINE": "yes"}
    cold = subprocess.run(
        [sys.executable, *argv, "--word"], cwd=tmp_path, env=env, capture_output=True, text=True, check=False
    )
    warm = python(*argv, "--word", cwd=tmp_path, env=env)
    assert (warm.returncode, warm.stdout, warm.stderr) == (cold.returncode, cold.stdout, cold.stderr)


@pytest.mark.parametrize(
    ("program", "code"),
    [("pass", 0), ("exit(7)", 7), ("exit('no')", 1), ("1 / 0", 1), ("import os; os.kill(os.getpid(), 11)", -11)],
)
def test_its_end_is_told_as_it_was(program: str, code: int) -> None:
    cold = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (cold.returncode, python("-c", program).returncode) == (code, code)


def test_what_one_program_does_to_itself_is_not_seen_by_the_next() -> None:
    python(
        "-c", "import os, torch; os.environ['SEEN'] = '1'; torch.manual_seed(3); torch.set_default_dtype(torch.half)"
    )
    told = python("-c", "import os, torch; print(os.environ.get('SEEN'), torch.get_default_dtype())")
    assert told.stdout == "None torch.float32\n"


def test_a_program_that_does_not_end_is_ended() -> None:
    program = start("-c", "import time; time.sleep(60)")
    with pytest.raises(TimeoutError):
        program.end(deadline_s=0.2)


def test_programs_run_beside_each_other_and_have_random_numbers_of_their_own() -> None:
    rolls = "import random, numpy; print(random.random(), numpy.random.random())"
    first, second = start("-c", rolls), start("-c", rolls)
    said = [set(one.end().stdout.split()) for one in (first, second)]
    assert not said[0] & said[1]


CHILDREN = """
import multiprocessing, os, sys, threading

def work(queue, number):
    pipes = sorted(name for name in os.listdir("/proc/self/fd") if name > "2" and is_pipe(name))
    queue.put((number, __name__, sys.argv, os.environ["MINE"], threading.active_count(), len(pipes), sys.asked))
    open(f"has-torch-{number}", "w").write(str("torch" in sys.modules))
    sys.exit(number)

def is_pipe(name):
    try:
        return os.readlink(f"/proc/self/fd/{name}").startswith(("pipe:", "socket:"))
    except OSError:  # the one that listed them
        return False

if __name__ == "__main__":
    context = multiprocessing.get_context(sys.argv[1])
    queue, kept, end = context.SimpleQueue(), os.pipe(), threading.Event()
    thread = threading.Thread(target=end.wait)
    thread.start()
    children = [context.Process(target=work, args=(queue, number), daemon=number > 1) for number in (1, 2)]
    for child in children:
        child.start()
        print(queue.get())
        child.join()
    end.set()
    sys.exit([child.exitcode for child in children] != [1, 2])
"""


@pytest.mark.parametrize("way", ["spawn", "forkserver"])
def test_what_a_program_starts_through_multiprocessing_is_a_fork_and_else_as_it_would_be(
    tmp_path: Path, way: str
) -> None:
    (tmp_path / "main.py").write_text(CHILDREN)
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "sitecustomize.py").write_text("import sys; sys.asked = sys.orig_argv[-1].split('(')[0]")
    env, said, has_torch = {**os.environ, "MINE": "yes", "PYTHONPATH": str(tmp_path / "site")}, [], []
    for run in (_cold, python):
        done = run("-u", "main.py", way, env=env, cwd=tmp_path)
        said.append((done.returncode, done.stdout, done.stderr))
        has_torch.append({path.read_text() for path in tmp_path.glob("has-torch-*")})
    assert said[0] == said[1]
    assert (said[0][0], has_torch) == (0, [{"False"}, {"True"}])


def _cold(*argv: str, env: dict[str, str], cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *argv], cwd=cwd, env=env, capture_output=True, text=True, check=False)


STARTED = """
import os, signal, sys
def outer():
    frame, files = sys._getframe(), []
    while frame is not None:
        files.append(os.path.basename(frame.f_code.co_filename))
        frame = frame.f_back
    return files
print(outer(), sys.argv, os.getcwd(), os.environ["MINE"], __name__, sys.path, sys.flags, sys.asked)
print(signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM), sorted(map(int, os.listdir("/proc/self/fd"))))
print(open("/proc/self/cmdline").read(), "warm_host" in sys.modules, sys.modules["sitecustomize"].__file__)
import atexit, threading, time, weakref, beside
class Last:
    def __init__(self, name): self.name = name
    def __del__(self): print(self.name, "torn down", os is None, sys.meta_path)
last, ring, beside.kept = Last("last"), Last("ring"), Last("of a module")
ring.itself = ring
weakref.finalize(last, print, "finalized")
atexit.register(lambda: print("at exit", __import__("json").dumps([1]), "atexit" in sys.modules))
threading.Thread(target=lambda: (time.sleep(0.1), print("a thread"))).start()
"""
BESIDE = """
class Own:
    def __del__(self): print("own torn down")
own = Own()
"""
SITE = "import sys; sys.asked = __name__, len(sys.argv)"


@pytest.mark.parametrize("end", ["", "sys.exit(3)", "1 / 0", "os.kill(os.getpid(), 11)"])
def test_a_start_that_waited_is_one_from_the_site_to_the_last_object(tmp_path: Path, end: str) -> None:
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "sitecustomize.py").write_text(SITE)
    (tmp_path / "main.py").write_text(STARTED + end)
    (tmp_path / "beside.py").write_text(BESIDE)
    env = {**os.environ, "MINE": "yes", "PYTHONPATH": str(tmp_path / "site")}
    cold = subprocess.run(
        [sys.executable, "-m", "main"],
        cwd=tmp_path, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
    )  # fmt: skip
    warm = main_program(env, tmp_path)
    assert (warm.returncode, warm.stdout, warm.stderr) == (cold.returncode, cold.stdout, cold.stderr)
