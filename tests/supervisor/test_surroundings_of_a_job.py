"""Odd places to run in: beside and inside another doctor, in namespaces, without processes, with start-up code."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from jobs import DOCTOR, facts, python, report, run


def test_two_doctors_in_one_folder_at_once_keep_apart(tmp_path: Path) -> None:
    doctors = [
        subprocess.Popen(
            [
                *DOCTOR,
                "--",
                *python(f"import time; print({code}, flush=True); time.sleep(0.5); raise SystemExit({code})"),
            ],
            cwd=tmp_path,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        for code in (3, 4, 5)
    ]
    said = [doctor.communicate(timeout=60)[0] for doctor in doctors]
    assert [(doctor.returncode, out) for doctor, out in zip(doctors, said, strict=True)] == [
        (code, b"%d\n" % code) for code in (3, 4, 5)
    ]
    folders = sorted((tmp_path / "reports").iterdir())
    texts = {(one / "record" / "output" / "all.txt").read_text(): one for one in folders}
    assert sorted(texts) == ["3\n", "4\n", "5\n"]
    for text, folder in texts.items():
        assert json.loads((folder / "report.json").read_text())["job_exit_code"] == int(text)
        assert len(list((folder / "record" / "agents").glob("agent-*.bin"))) == 1


def test_a_doctor_in_a_doctor_each_has_its_own_record_and_code(tmp_path: Path) -> None:
    (tmp_path / "job.py").write_text("print('in')\nraise ValueError('broken')\n")
    inner = shlex.join([*DOCTOR, "--report-dir", "inner", "--", sys.executable, "job.py"])
    ended = run(tmp_path, "bash", "-c", f"{inner}; [ $? -eq 1 ] && echo told; exit 7")
    assert (ended.returncode, ended.stdout) == (7, b"in\ntold\n")
    within = json.loads((tmp_path / "inner" / "report.json").read_text())
    assert (within["job_exit_code"], within["location"]) == (1, "job.py:2")
    assert report(tmp_path)["job_exit_code"] == 7
    of_job = {one.name for one in (tmp_path / "inner" / "record" / "agents").glob("agent-*.bin")}
    of_doctor = {one.name for one in (tmp_path / "report" / "record" / "agents").glob("agent-*.bin")}
    assert (len(of_job), of_job & of_doctor) == (1, set())
    assert facts(tmp_path)["sent"] == []


@pytest.mark.parametrize(
    "namespace", [["unshare", "-Ur"], ["unshare", "-Urpf", "--mount-proc"]], ids=["user", "user and pid"]
)
@pytest.mark.parametrize("around", ["the doctor", "the job"])
def test_in_a_namespace_of_users_and_processes_the_job_runs_and_is_told(
    tmp_path: Path, namespace: list[str], around: str
) -> None:
    if not shutil.which("unshare") or subprocess.run([*namespace, "true"], check=False, capture_output=True).returncode:
        pytest.skip("needs unshare and a kernel that lets this user make a namespace")
    (tmp_path / "job.py").write_text("import os\nprint(os.getuid())\nraise ValueError('broken')\n")
    job = [sys.executable, "job.py"]
    doctor = [*DOCTOR, "--report-dir", "report", "--"]
    command = [*namespace, *doctor, *job] if around == "the doctor" else [*doctor, *namespace, *job]
    ended = subprocess.run(command, cwd=tmp_path, capture_output=True, timeout=60, check=False)
    assert (ended.returncode, ended.stdout) == (1, b"0\n"), ended.stderr.decode()
    assert report(tmp_path)["location"] == "job.py:3"


STARTS = {"": True, "-I": False, "-S": True, "-E": False, "-s -B -O": True, "-X dev -W error": True}


@pytest.mark.parametrize("flags", STARTS)
def test_flags_and_start_up_code_of_the_jobs_own_are_as_without_us(tmp_path: Path, flags: str) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "sitecustomize.py").write_text("import sys; sys.mine = __name__, __file__\n")
    (tmp_path / "job.py").write_text(
        "import sys; print(sys.flags, getattr(sys, 'mine', None), [one for one in sys.path if 'agent' not in one])\n"
        "import sitecustomize; print(sitecustomize.__file__)\n"
    )
    environ = {"PYTHONPATH": str(tmp_path / "mine")}
    words = (sys.executable, *flags.split(), "job.py")
    bare = subprocess.run(words, cwd=tmp_path, capture_output=True, check=False, env={**os.environ, **environ})
    ended = run(tmp_path, *words, options=["--quiet"], env=environ)
    assert (ended.returncode, ended.stdout, ended.stderr) == (bare.returncode, bare.stdout, bare.stderr)
    assert (b"mine/sitecustomize.py" in bare.stdout) is STARTS[flags]
    agents = list((tmp_path / "report" / "record" / "agents").glob("agent-*.bin"))
    assert bool(agents) is (STARTS[flags])


FORKS = """
import os, sys, time
pids = []
try:
    for _ in range(500):
        pid = os.fork()
        if not pid:
            time.sleep(0.3)
            os._exit(0)
        pids.append(pid)
except OSError as error:
    print(error.strerror, flush=True)
for pid in pids:
    os.waitpid(pid, 0)
sys.exit(9)
"""


def test_five_hundred_forks_at_once_cost_a_bounded_record(tmp_path: Path) -> None:
    ended = run(tmp_path, *python(FORKS))
    assert (ended.returncode, ended.stdout) == (9, b"")
    assert len(list((tmp_path / "report" / "record" / "agents").glob("agent-*.bin"))) <= 201
    assert report(tmp_path)["job_exit_code"] == 9


# Another user, who may read all files: the limit of processes does not hold for root.
OTHER_USER = ["setpriv", "--reuid=54321", "--clear-groups"]
READS = "+dac_read_search,+dac_override"


@pytest.mark.parametrize("most", [1, 3, 4, 12])
def test_where_hardly_a_process_may_be_started_the_job_runs(tmp_path: Path, most: int) -> None:
    user = [*OTHER_USER, f"--inh-caps=-all,{READS}", f"--ambient-caps=-all,{READS}"]
    if not shutil.which("setpriv") or subprocess.run([*user, "true"], check=False, capture_output=True).returncode:
        pytest.skip("needs root and setpriv to become another user")
    doctor = [*DOCTOR, "--report-dir", str(tmp_path / "report"), "--", *python(FORKS)]
    command = ["bash", "-c", f'ulimit -u {most}; exec "$@"', "drill", *user, *doctor]
    ended = subprocess.run(command, cwd=tmp_path, capture_output=True, timeout=60, check=False)
    assert (ended.returncode, ended.stdout) == (9, b"Resource temporarily unavailable\n"), ended.stderr.decode()
    assert b"Traceback" not in ended.stderr


def test_a_fault_of_the_watch_itself_costs_the_job_nothing(tmp_path: Path) -> None:
    """A record folder that turns into something else under the loop: as any fault that nobody thought of."""
    broken = (
        "import diagnostics.supervisor.event_loop as watch\n"
        "def look(self): raise RuntimeError('a fault')\n"
        "watch.EventLoop._look = look\n"
        "from diagnostics.cli import main; main()"
    )
    code = "import time; print('began', flush=True); time.sleep(0.5); print('ended'); raise SystemExit(6)"
    words = [sys.executable, "-c", broken, "run", "--report-dir", "report", "--", *python(code)]
    ended = subprocess.run(words, cwd=tmp_path, capture_output=True, timeout=60, check=False)
    assert (ended.returncode, ended.stdout) == (6, b"began\nended\n")
    assert b"a fault of the doctor's own; the job goes on, and is no longer watched" in ended.stderr
    assert b"Traceback" not in ended.stderr
    assert [one["what"] for one in facts(tmp_path)["missing"]][-1:] == ["the watch"]
