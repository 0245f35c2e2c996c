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
class Last:
    def __del__(self): print("torn down")
last = Last()
"""
SITE = "import sys; sys.asked = __name__, len(sys.argv)"


@pytest.mark.parametrize("end", ["", "sys.exit(3)", "1 / 0", "os.kill(os.getpid(), 11)"])
def test_a_start_that_waited_is_one_from_the_site_to_the_last_object(tmp_path: Path, end: str) -> None:
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "sitecustomize.py").write_text(SITE)
    (tmp_path / "main.py").write_text(STARTED + end)
    env = {**os.environ, "MINE": "yes", "PYTHONPATH": str(tmp_path / "site")}
    cold = subprocess.run(
        [sys.executable, "-m", "main"],
        cwd=tmp_path, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
    )  # fmt: skip
    warm = main_program(env, tmp_path)
    assert (warm.returncode, warm.stdout, warm.stderr) == (cold.returncode, cold.stdout, cold.stderr)
