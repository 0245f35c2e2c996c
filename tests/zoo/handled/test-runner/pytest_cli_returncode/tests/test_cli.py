import pathlib
import subprocess
import sys

TRAIN = pathlib.Path(__file__).parent.parent / "train.py"


def cli(*argv):
    return subprocess.run([sys.executable, str(TRAIN), *argv], capture_output=True, text=True)


def test_trains():
    done = cli("--steps", "3")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("final loss")


def test_bad_learning_rate():
    done = cli("--lr", "-1")
    assert done.returncode == 2
    assert "--lr must be positive" in done.stderr


def test_missing_data(tmp_path):
    done = cli("--data", str(tmp_path / "nope.pt"))
    assert done.returncode == 1
    assert "FileNotFoundError" in done.stderr


def test_broken_data(tmp_path):
    path = tmp_path / "cut.pt"
    path.write_bytes(b"PK\x03\x04 this is no checkpoint")
    done = cli("--data", str(path))
    assert done.returncode != 0
    assert "Error" in done.stderr
