"""What is named and is not there, or something else: one sentence with a remedy, and exit code 2, in every command."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[2]
NO_RECORD = "error: empty holds no record of a job\n  name the folder "
NO_FILE = ": no such file\n  name what you start: --script train.py --its-options\n"


NO_FOLDER = "a file is a file, a folder was expected"
SPELLING = "cannot read none: no such file or folder"
REFUSED = {
    "ups-doctor": [
        ("diagnose none", SPELLING),
        ("diagnose a+file", NO_FOLDER + "\n  of a log: ups-doctor diagnose --log 'a file'"),
        ("diagnose --log a+file", "the log is empty, and says nothing of any job: 'a file'\n"),
        ("diagnose --log a+file a+file", "all 2 logs are empty, and say"),
        ("diagnose EMPTY", "FOLDER is empty: a variable that is not set?"),
        ("open none", SPELLING),
        ("export none --chrome", SPELLING),
        ("export a+file --chrome", NO_FOLDER),
        ("top none", SPELLING),
        ("top a+file", NO_FOLDER),
        ("top EMPTY", "what to show is an empty word: a variable that is not set?"),
        ("perf none", SPELLING),
        ("perf a+file", NO_FOLDER),
        ("triage none", SPELLING),
        ("triage EMPTY", "PATH is empty: a variable that is not set?"),
        ("scan-cache none", "none: no such file or folder"),
        ("fix-cache none", "none: no such file or folder"),
        ("attach train.py", "PID 'train.py' is no number of a process\n  find one of the job's: pgrep -af train.py"),
        ("stacks 0", "PID '0' is no number of a process"),
        ("stacks 99999999999", "there is no process 99999999999"),
        ("explain EMPTY", "unknown code ''"),
        ("preflight train.py", "train.py is a program, and a configuration is expected there\n  ups-doctor preflight "),
        ("run EMPTY", "the command is an empty word: a variable that is not set?"),
        ("run --report-dir EMPTY -- true", "--report-dir is empty: a variable that is not set?"),
        ("run --report-dir a+file -- true", "--report-dir a file is a file: a report never overwrites another"),
        ("parity --script none", "none: no such file or program\n  name what you start"),
        ("bisect-model --script none", "none: no such file or program\n  name what you start"),
        ("bisect-model --script EMPTY", "--script is empty: a variable that is not set?"),
    ],
    "ups": [
        ("evaluate none", SPELLING),
        ("evaluate folder", "cannot read folder: it is a folder, a file was expected"),
        ("evaluate a+file --out a+file", NO_FOLDER),
        ("evaluate EMPTY", "CHECKPOINT is empty: a variable that is not set?"),
        ("predict none a+file --out o.h5", SPELLING),
        ("predict a+file none --out o.h5", SPELLING),
        ("predict a+file a+file --out EMPTY", "--out is empty: a variable that is not set?"),
        ("export none model.pt", SPELLING),
        ("data info none", SPELLING),
        ("data info folder", "cannot read folder: it is a folder, a file was expected"),
        ("data convert none --task darcy2d --root out", SPELLING),
        ("data generate advection1d --root EMPTY", "--root is empty: a variable that is not set?"),
        ("data generate advection1d --root a+file", NO_FOLDER),
        ("track sync none", SPELLING),
        ("track sync folder", "folder is no run of ups train: config.yaml is not there"),
        ("train EMPTY", "CONFIG is empty: a variable that is not set?"),
        ("train none", "cannot read the configuration none: no such file or folder"),
        ("pipeline folder", "cannot read the configuration folder: it is a folder, a file was expected"),
        ("cache build none", "cannot read the configuration none: no such file or folder"),
        ("launch slurm none --time 1:00:00", "cannot read the configuration none: no such file or folder"),
    ],
}  # fmt: skip
# One process asks all of these: what is refused is refused before anything is started.
ALL_REFUSED = """
import contextlib, io, json, sys
from diagnostics.cli import doctor, guarded
from ups.cli import trainer
for name, load in (("ups-doctor", doctor), ("ups", trainer)):
    for words, said in json.loads(sys.argv[1])[name]:
        told = io.StringIO()
        given = ["" if word == "EMPTY" else word.replace("+", " ") for word in words.split()]
        with contextlib.redirect_stderr(told), contextlib.redirect_stdout(told):
            code = guarded(load, name, given)
        if code != 2 or not told.getvalue().startswith("error: " + said):
            print(name, words, code, told.getvalue())
"""


def test_every_command_refuses_what_is_not_there_or_is_something_else_in_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "a file").write_text("")
    done = subprocess.run(
        [sys.executable, "-c", ALL_REFUSED, json.dumps(REFUSED)], cwd=tmp_path, stdin=subprocess.DEVNULL,
        env={"PYTHONPATH": str(PROJECT), "PATH": ""}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.stdout, done.returncode) == ("", 0), done.stderr
    assert [one.name for one in sorted(tmp_path.iterdir())] == ["a file", "folder"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("diagnose empty", NO_RECORD),
        ("diagnose --log none.log", "error: cannot read the log none.log: no such file or folder\n  check the"),
        ("top empty", NO_RECORD),
        ("export empty --chrome", NO_RECORD),
        ("perf empty", NO_RECORD),
        ("parity none.py:make", "error: none.py:make: no such file: none.py\n  check the spelling: ls -l none.py\n"),
        ("parity --script none.py", "error: none.py" + NO_FILE),
        ("bisect-model --script none.py --lr 1", "error: none.py" + NO_FILE),
        ("preflight escape.yaml", "error: escape.yaml:2 is not valid YAML: the character '\\x1b' may not stand in"),
    ],
)
def test_what_is_not_there_is_wrong_use(tmp_path: Path, words: str, said: str) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "escape.yaml").write_text("data: 1\nname: \x1b[31mred\n")
    program = [sys.executable, "-c", "from diagnostics.cli import main; main()", *words.split()]
    done = subprocess.run(
        program, cwd=tmp_path, env={"PYTHONPATH": str(PROJECT), "PATH": ""}, capture_output=True, text=True, check=False
    )
    told = done.stderr.partition("error: ")
    assert (done.returncode, (told[1] + told[2])[: len(said)]) == (2, said)
    assert "Traceback" not in done.stderr
    assert [one.name for one in sorted(tmp_path.iterdir())] == ["empty", "escape.yaml"]
