from __future__ import annotations

import os
import stat
import subprocess
import sys
import venv
from pathlib import Path

import pytest
from fakes import FailingChild, FakeChild, LateChild, child_result

from diagnostics.adapter import interpreter
from diagnostics.adapter.describe import adapters, describe, read_description
from diagnostics.adapter.description import JobDescription
from diagnostics.core.errors import DoctorError, UsageError
from diagnostics.machine.execution.child_process import GroupChild

ADAPTER = """
import json, sys
verb, config, *sets = sys.argv[1:]
if "wrong" in open(config).read():
    sys.stderr.write("error: unknown key 'epoch' in %s:3; did you mean 'epochs'?\\n  known here: epochs\\n" % config)
    sys.exit(2)
if "crash" in open(config).read():
    raise RuntimeError("a fault of the trainer")
if "chatty" in open(config).read():
    print("loading...")
print(json.dumps({"name": "toy", "nproc": 4, "cache_dirs": ["/data/cache"], "output_dir": "/data/run",
                  "env": {"OMP_NUM_THREADS": 1}, "new_in_a_later_version": True, "port": None,
                  "batch_bytes": 4096, "overrides": sets}))
"""


@pytest.fixture(scope="module")
def job_python(tmp_path_factory: pytest.TempPathFactory) -> str:
    """An environment of its own, without the doctor, in which a trainer with an adapter is installed."""
    home = tmp_path_factory.mktemp("job-environment")
    venv.create(home, with_pip=False, symlinks=True)
    python = home / "bin" / "python"
    site = subprocess.run(
        [python, "-c", "import sysconfig; print(sysconfig.get_paths()['purelib'])"],
        check=True, capture_output=True, text=True,
    ).stdout.strip()  # fmt: skip
    info = Path(site) / "toy-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: toy\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[ups_doctor.jobs]\ntoy = toy_doctor\n")
    (Path(site) / "toy_doctor.py").write_text(ADAPTER)
    return str(python)


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # the current folder is on the path of `python -m`: here it would be this project


def config(tmp_path: Path, text: str = "fine") -> Path:
    path = tmp_path / "job.yaml"
    path.write_text(text)
    return path


def asked(path: Path, python: str, *overrides: str) -> JobDescription:
    return describe(path, overrides, python=python, child=GroupChild())


def test_the_adapter_is_found_and_asked_in_the_jobs_own_environment(job_python: str, tmp_path: Path) -> None:
    assert asked(config(tmp_path), job_python, "a.b=1") == JobDescription(
        module="toy_doctor",
        config=tmp_path / "job.yaml",
        overrides=("a.b=1",),
        name="toy",
        nproc=4,
        cache_dirs=(Path("/data/cache"),),
        output_dir=Path("/data/run"),
        env={"OMP_NUM_THREADS": "1"},
        batch_bytes=4096,
    )


def test_a_refused_config_is_a_usage_error_with_the_adapters_sentence(job_python: str, tmp_path: Path) -> None:
    path = config(tmp_path, "wrong")
    with pytest.raises(UsageError) as error:
        asked(path, job_python)
    assert error.value.message == f"unknown key 'epoch' in {path}:3; did you mean 'epochs'?"
    assert error.value.hint == "known here: epochs"


def test_a_crashed_adapter_is_named_with_its_last_words(job_python: str, tmp_path: Path) -> None:
    with pytest.raises(DoctorError) as error:
        asked(config(tmp_path, "crash"), job_python)
    assert error.value.message == ("the job adapter 'toy' ended with exit code 1: RuntimeError: a fault of the trainer")
    assert error.value.exit_code == 1


def test_an_answer_that_is_no_json_is_named(job_python: str, tmp_path: Path) -> None:
    with pytest.raises(DoctorError, match="the job adapter 'toy' gave no job description"):
        asked(config(tmp_path, "chatty"), job_python)


def test_an_environment_without_adapters_says_so(tmp_path: Path) -> None:
    child = FakeChild(child_result("[]"))
    with pytest.raises(UsageError) as error:
        describe(config(tmp_path), (), python="/opt/job/bin/python", child=child)
    assert error.value.message == (
        f"/opt/job/bin/python knows no trainer that can read {tmp_path}/job.yaml: "
        "no package there registers an entry point in 'ups_doctor.jobs'"
    )


def test_the_first_adapter_that_accepts_is_taken_and_all_refusals_are_told(tmp_path: Path) -> None:
    def accepting(argv: object) -> object:
        words = tuple(argv)  # type: ignore[arg-type]
        if "-c" in words:
            return child_result('[["a", "a_doctor"], ["b", "b_doctor:main"]]')
        return child_result("{}") if "b_doctor" in words else child_result(stderr="no", returncode=2)

    def refusing(argv: object) -> object:
        return accepting(argv) if "-c" in argv else child_result(stderr=f"not {argv[2]}", returncode=2)  # type: ignore[operator,index]

    path = config(tmp_path)
    assert describe(path, (), python="p", child=FakeChild(accepting)).module == "b_doctor"  # type: ignore[arg-type]
    with pytest.raises(UsageError) as error:
        describe(path, (), python="p", child=FakeChild(refusing))  # type: ignore[arg-type]
    assert (error.value.message, error.value.hint) == (f"no job adapter accepts {path}", "not a_doctor\nnot b_doctor")


def test_a_config_that_does_not_exist_is_refused_before_anything_starts(tmp_path: Path) -> None:
    child = FakeChild()
    with pytest.raises(UsageError, match=r"absent\.yaml: no such file"):
        describe(tmp_path / "absent.yaml", (), python="p", child=child)
    assert child.ran == []


def test_a_python_that_cannot_be_asked_is_one_sentence() -> None:
    with pytest.raises(DoctorError, match="the list of job adapters cannot be asked: cannot start p: Perm"):
        adapters("p", FailingChild(), 5.0)
    with pytest.raises(DoctorError, match="the list of job adapters cannot be asked: p -c"):
        adapters("p", LateChild(), 5.0)
    with pytest.raises(DoctorError, match="p cannot list its packages \\(exit code 1\\): boom"):
        adapters("p", FakeChild(child_result(stderr="boom", returncode=1)), 5.0)


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        ([], "one JSON object was expected, got list"),
        ({"nproc": "4"}, "'nproc' is '4'"),
        ({"nproc": True}, "'nproc' is True"),
        ({"cache_dirs": "x"}, "'cache_dirs' is 'x'"),
        ({"cache_dirs": [3]}, "'cache_dirs' is 3"),
        ({"env": []}, "'env' is \\[\\]"),
        ({"name": None}, "'name' is None"),
    ],
)
def test_a_description_of_the_wrong_shape_names_the_key(answer: object, sentence: str) -> None:
    with pytest.raises((ValueError, TypeError), match=sentence):
        read_description(answer, module="m", config=Path("c"))


def program(folder: Path, name: str = "python") -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def test_the_python_is_the_wish_then_the_own_then_the_active_then_the_first_on_path(tmp_path: Path) -> None:
    active, first = program(tmp_path / "active" / "bin"), program(tmp_path / "path", "python3")
    environ = {"VIRTUAL_ENV": str(tmp_path / "active"), "PATH": str(tmp_path / "path")}
    assert interpreter.choose(sys.executable, environ, own_has_torch=True) == sys.executable
    assert interpreter.choose(None, environ, own_has_torch=True) == sys.executable
    assert interpreter.choose(None, environ, own_has_torch=False) == str(active)
    assert interpreter.choose(None, {"PATH": environ["PATH"]}, own_has_torch=False) == str(first)
    assert interpreter.choose(None, {"PATH": ""}, own_has_torch=False) == sys.executable


def test_a_python_that_cannot_be_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as error:
        interpreter.choose(str(tmp_path / "python"), os.environ)
    assert error.value.message == f"--python {tmp_path}/python: no such program, or it may not be run"


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ("exit 0", ""),
        ('echo "$@"', ""),
        ("echo before; echo 'invalid option -- c' >&2; exit 2", " (invalid option -- c)"),
        (None, " (Exec format error)"),
    ],
)
def test_a_program_that_is_no_python_is_refused(tmp_path: Path, lines: str | None, said: str) -> None:
    path = program(tmp_path)
    path.write_text(f"#!/bin/sh\n{lines}\n" if lines is not None else "no program")
    with pytest.raises(UsageError) as error:
        interpreter.choose(str(path), os.environ)
    assert error.value.message == f"--python {path} is no Python: it does not run `-c`{said}"


def test_a_script_around_a_python_is_one(tmp_path: Path) -> None:
    path = program(tmp_path)
    path.write_text(f'#!/bin/sh\necho loaded\nexec {sys.executable} "$@"\n')
    assert interpreter.choose(str(path), os.environ) == str(path)
