"""The smallest real run: a data file in PDEBench's layout, a configuration, and the command line around them."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import warm_python
import yaml

from ups.launch.elastic import Launched
from ups.run_folder import RunFolder

BETA = 0.4
FROM_COLD_S = 600.0  # a machine on which much else runs compiles a model in 150 s
PROGRAM = ("-c", "from ups.cli import main; main()")
LAUNCH = """
import pickle, sys
from ups.launch.elastic import launch
with open(sys.argv[1], "wb") as file:
    pickle.dump(launch(sys.argv[3:], int(sys.argv[2])), file)
"""
MARK = "UPS_TEST_MARK"


def write_data(folder: Path, *, samples: int = 10, frames: int = 4, cells: int = 32) -> Path:
    """Writes travelling sines, the exact solution of advection, and returns the file."""
    random = np.random.default_rng(3)
    x, times = (np.arange(cells) + 0.5) / cells, 0.05 * np.arange(frames + 1)
    wave, phase = random.integers(1, 4, (samples, 1, 1)), random.uniform(0, 2 * np.pi, (samples, 1, 1))
    u = np.sin(2 * np.pi * wave * (x - BETA * times[:frames, None]) + phase)
    path = folder / f"1D_Advection_Sols_beta{BETA}.hdf5"
    with h5py.File(path, "w") as file:
        file["tensor"], file["x-coordinate"], file["t-coordinate"] = u.astype(np.float32), x, times
        file.attrs["beta"] = BETA
    return path


def write_config(folder: Path, **changes: Any) -> Path:
    """Writes the configuration of a run into folder/run; `changes` are sections that replace keys."""
    stage = {"epochs": 2, "batch_size": 8, "lr": 0.003}
    config: dict[str, Any] = {
        "data": {"task": "advection1d", "parameter": BETA, "root": str(folder)},
        "latent": {"dim": 8, "hidden_dim": 16, "depth": 1, "num_heads": 2},
        "operator": {"hidden_dim": 16, "group_size": 8, "num_heads": 2, "depths": [1, 1], "window": 4},
        "stages": {"autoencoder": dict(stage), "operator": dict(stage)},
        "training": {"log_every_steps": 2, "timeout_s": 30.0},
        "output": {"dir": str(folder / "run")},
        "tracking": {"tensorboard": False},
    }
    for section, keys in changes.items():
        config.setdefault(section, {}).update(keys)
    path = folder / "small.yaml"
    path.write_text(yaml.safe_dump(config))
    return path


def newest(folder: Path) -> Any:
    """Returns the newest finished checkpoint of the run in folder/run, None before there is one."""
    return next(iter(RunFolder(folder / "run").saved()), None)


def ups(*arguments: str | Path, environ: Mapping[str, str] = {}) -> subprocess.CompletedProcess[str]:
    """Runs `ups ...` to its end and returns what it said; its processes are forks of one that has imported torch."""
    return warm_python.python(*PROGRAM, *arguments, env=clean_environment() | dict(environ))


def ups_from_cold(*arguments: str | Path, environ: Mapping[str, str] = {}) -> subprocess.CompletedProcess[str]:
    """The same with interpreters of their own, for tests of how they start and end."""
    return subprocess.run(
        [sys.executable, *PROGRAM, *map(str, arguments)],
        env=clean_environment() | dict(environ),
        capture_output=True,
        text=True,
        timeout=FROM_COLD_S,
        check=False,
    )


def launch(*argv: str | Path, nproc: int = 2) -> Launched:
    """Has our launcher run `python ARGV...` as so many ranks, all of them forks; returns how they ended."""
    with tempfile.NamedTemporaryFile() as file:
        done = warm_python.python("-c", LAUNCH, file.name, str(nproc), *argv, env=clean_environment())
        assert done.returncode == 0, done.stderr
        launched: Launched = pickle.load(file)  # noqa: S301 - our own
        return launched


def clean_environment() -> dict[str, str]:
    """Returns this process's environment without what a launcher would set."""
    ranks = ("RANK", "LOCAL_RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT")
    return {name: value for name, value in os.environ.items() if name not in ranks} | {"OMP_NUM_THREADS": "1"}


def processes_marked(mark: str) -> list[int]:
    """Returns the processes whose environment holds the mark: nobody's orphan escapes this."""
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                environ, state = (folder / "environ").read_bytes(), (folder / "stat").read_text()
            except OSError:
                continue
            if f"{MARK}={mark}".encode() in environ.split(b"\0") and ") Z " not in state:
                found.append(int(folder.name))
    return found


def ranks_of(mark: str) -> dict[int, int]:
    """Returns the pid of each rank of a marked run, by rank."""
    found = {}
    for pid in processes_marked(mark):
        try:
            line, text = (Path(f"/proc/{pid}/{name}").read_bytes().split(b"\0") for name in ("cmdline", "environ"))
        except OSError:  # it has ended since
            continue
        environ = dict(item.split(b"=", 1) for item in text if b"=" in item)
        if b"ups.launch.rank" in line and b"RANK" in environ:
            found[int(environ[b"RANK"])] = pid
    return found


def wait_until(condition: Any, *, deadline_s: float = 60.0) -> None:
    """Returns as soon as condition() is true; fails the test after the deadline."""
    end = time.monotonic() + deadline_s
    while not condition():
        assert time.monotonic() < end, "the awaited condition never came true"
        time.sleep(0.02)


def start(
    arguments: Sequence[str | Path],
    mark: str,
    output: Path,
    *,
    environ: Mapping[str, str] = {},
    cwd: Path | None = None,
) -> warm_python.Running:
    """Starts `ups ...` in a session of its own, marked, its output in a file; its processes are forks, as of `ups`."""
    env = clean_environment() | {MARK: mark} | dict(environ)
    return warm_python.start_session(*PROGRAM, *arguments, env=env, cwd=cwd, output=output)


def start_from_cold(
    arguments: Sequence[str | Path],
    mark: str,
    output: Path,
    *,
    environ: Mapping[str, str] = {},
    cwd: Path | None = None,
    before: Sequence[str] = (),
    program: Sequence[str] = PROGRAM,
) -> subprocess.Popen[bytes]:
    """The same with interpreters of their own; `before` is what becomes the first, `program` who starts `ups`."""
    with output.open("wb") as file:
        return subprocess.Popen(
            [*before, sys.executable, *program, *map(str, arguments)],
            env=clean_environment() | {MARK: mark} | dict(environ),
            stdout=file,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            cwd=cwd,
        )


def interrupt(process: subprocess.Popen[bytes] | warm_python.Running, number: int = signal.SIGINT) -> int:
    """Does what Ctrl-C does, a signal to the whole foreground group; returns the exit code."""
    os.killpg(process.pid, number)
    return process.wait(timeout=20)
