"""How the agent comes in, and when it stays out."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from diagnostics.record.record import AGENT_SITE

HELLO = "print('hello')"


def test_a_plain_program_leaves_one_file_and_prints_nothing_more(watch):
    run = watch(HELLO, env={"RANK": "1", "LOCAL_RANK": "1", "WORLD_SIZE": "2"})
    assert (run.returncode, run.stdout, run.stderr) == (0, "hello\n", "")
    (agent,) = run.record.agents
    assert (agent.rank, agent.argv[1:], agent.cwd) == (1, ("main.py",), str(run.script.parent))
    assert agent.variables == {"RANK": "1", "LOCAL_RANK": "1", "WORLD_SIZE": "2"}
    assert [event.kind for event in agent.events] == ["exit"]
    assert agent.problems == ()
    # By these the reader tells the job's own files from others.
    assert agent.stdlib == str(Path(os.__file__).parent)
    assert sysconfig.get_path("purelib") in agent.packages
    assert agent.executable == sys.executable


@pytest.mark.parametrize("env", [{"UPS_DOCTOR_OFF": "1"}, {"UPS_DOCTOR_DIR": ""}])
def test_it_can_be_switched_off(watch, env):
    run = watch("import sys; print('_ups_doctor_agent' in sys.modules)", env=env)
    assert (run.stdout, run.record.agents) == ("False\n", ())


def test_an_isolated_python_is_not_watched_and_the_missing_file_shows_it(watch):
    run = watch(HELLO, python=(shutil.which("python3") or "python3", "-I"))
    assert (run.returncode, run.stdout, run.record.agents) == (0, "hello\n", ())


def test_a_job_keeps_its_own_package_called_diagnostics(watch):
    run = watch(
        "import diagnostics, sys; print(diagnostics.MINE, [name for name in sys.modules if name == 'diagnostics'])",
        files={"diagnostics/__init__.py": "MINE = 'the job'"},
    )
    assert (run.stdout, run.stderr) == ("the job ['diagnostics']\n", "")


def test_a_shadowed_sitecustomize_still_runs_under_its_own_name(watch):
    run = watch(
        "import sys; print(sys.shadowed, sys.modules['sitecustomize'].__file__.split('/')[-2:])",
        files={"lib/sitecustomize.py": "import sys; sys.shadowed = __name__"},
        env={"PYTHONPATH": ""},
        watched=True,
    )
    assert run.returncode == 1  # PYTHONPATH was taken away: nobody ran
    run = watch(run.script.read_text(), env={"PYTHONPATH": f"{AGENT_SITE}:{run.script.parent / 'lib'}"})
    assert run.stdout == "sitecustomize ['lib', 'sitecustomize.py']\n"
    assert len(run.record.agents) == 1


def test_a_search_path_that_names_the_agent_twice_starts_it_once(watch):
    run = watch(HELLO, env={"PYTHONPATH": f"{AGENT_SITE}:{AGENT_SITE}/../site/"})
    assert (run.returncode, run.stdout, run.stderr, len(run.record.agents)) == (0, "hello\n", "", 1)


def test_a_folder_that_cannot_be_written_harms_nobody(watch, tmp_path):
    run = watch(HELLO, env={"UPS_DOCTOR_DIR": str(tmp_path / "absent")})
    assert (run.returncode, run.stdout, run.stderr, run.record.agents) == (0, "hello\n", "", ())


def test_a_working_directory_that_is_gone_harms_nobody(watch, tmp_path):
    program = f"import os; os.chdir({str(tmp_path)!r}); os.mkdir('gone'); os.chdir('gone'); os.rmdir(os.getcwd())"
    run = watch(f"import sys\n{program}\nos.execv(sys.executable, [sys.executable, '-c', 'print(1)'])")
    assert (run.returncode, run.stdout, run.stderr) == (0, "1\n", "")
    assert [(agent.cwd, agent.argv[-1]) for agent in run.record.agents] == [
        (str(tmp_path), "main.py"),
        ("", "print(1)"),
    ]


def test_a_program_that_replaces_itself_leaves_two_files_with_one_pid(watch):
    run = watch(
        "import os, sys\nif len(sys.argv) < 2: os.execv(sys.executable, [sys.executable, 'main.py', 'again'])\n"
        "os.kill(os.getpid(), 9)"
    )
    assert run.returncode == -signal.SIGKILL
    first, second = run.record.agents
    assert (first.pid, second.argv[-1]) == (second.pid, "again")
    assert run.record.of_pid(first.pid) == second


def test_children_started_and_forked_have_files_of_their_own(watch):
    run = watch(
        """
        import multiprocessing as mp, os, subprocess, sys
        def work(): pass
        if __name__ == "__main__":
            subprocess.run([sys.executable, "-c", "pass"])
            for way in ("fork", "spawn"):
                child = mp.get_context(way).Process(target=work)
                child.start(); child.join()
        """
    )
    assert run.returncode == 0, run.stderr
    parent = run.record.agents[0]
    assert len(run.record.children_of(parent)) == len(run.record.agents) - 1 >= 3
    assert [agent.forked_from for agent in run.record.agents if agent.forked_from] == [parent.pid]


@pytest.mark.parametrize("version", ["3.8", "3.9", "3.10", "3.12", "3.13"])
def test_other_pythons_start_under_the_agent_too(watch, version):
    python = _python(version)
    run = watch("import os; pid = os.fork()\nif pid: os.waitpid(pid, 0)\nelse: 1 / 0", python=(python,))
    assert run.returncode == 0
    parent, child = run.record.agents
    assert (parent.python.rpartition(".")[0], child.forked_from) == (version, parent.pid)
    exception = child.last_event("exception")
    assert exception is not None
    assert exception.text == "ZeroDivisionError: division by zero"
    assert exception.path[0].line == 3


def _python(version: str) -> str:
    """Returns an interpreter of this version, on PATH or from pyenv."""
    found = sorted(Path.home().glob(f".pyenv/versions/{version}.*/bin/python{version}"))
    on_path = shutil.which(f"python{version}")
    for python in [*map(str, found), *([on_path] if on_path else [])]:
        if subprocess.run([python, "-c", "pass"], capture_output=True, check=False).returncode == 0:
            return python
    pytest.skip(f"no python{version} on this machine")


def test_a_plain_program_does_not_load_the_forms_of_secrets(watch):
    """They take 10 ms; the folder of the shell stands in the path of most interpreters and is no secret."""
    run = watch("import sys; print(sorted(name for name in sys.modules if 'secret' in name))", env={"PWD": sys.prefix})
    assert run.stdout == "[]\n"
