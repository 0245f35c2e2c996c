from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import h5py
import numpy as np
import pytest
import warm_python

from ups.data.pde.equations import equation

FRAMES, CELLS, BETA = 6, 32, 0.4
CONFIG = """\
name: small
data:
  task: advection1d
  parameter: 0.4
  root: {root}
  validation_fraction: 0.2
  generate: {{samples: {samples}, resolution: 32, frames: 6}}
latent: {{dim: 8, hidden_dim: 16, depth: 1}}
operator: {{hidden_dim: 16, group_size: 8, num_heads: 2, depths: [1, 1], window: 4}}
stages:
  autoencoder: {{batch_size: 16, epochs: 3}}
  operator: {{batch_size: 16, epochs: 3}}
training: {{nproc: 2, port: null}}
output: {{dir: {root}/run}}
"""


@pytest.fixture
def config(tmp_path: Path) -> Path:
    """A configuration with its data file: 30 sine waves that move."""
    path = tmp_path / "small.yaml"
    path.write_text(CONFIG.format(root=tmp_path, samples=30))
    write_waves(data_file(tmp_path), samples=30)
    return path


def data_file(root: Path) -> Path:
    return root / equation("advection1d").file_name(BETA)


def write_waves(path: Path, samples: int) -> None:
    x = (np.arange(CELLS) + 0.5) / CELLS
    t = np.arange(FRAMES + 1) * 0.05
    phases = np.linspace(0, 6, samples)
    waves = np.sin(2 * np.pi * (x[None, None] - BETA * t[None, :FRAMES, None]) + phases[:, None, None])
    with h5py.File(path, "w") as file:
        file["tensor"] = waves.astype(np.float32)
        file["x-coordinate"], file["t-coordinate"] = x, t
        file.attrs["beta"] = BETA


def adapter(verb: str, config: Path, *options: str, ranks: int = 1, port: int = 0) -> list[tuple[int, str, str]]:
    """Runs the adapter as one process or as several ranks; returns (exit code, stdout, stderr) by rank."""
    argv = ["-m", "ups.doctor_job", verb, str(config), *options]
    shared = {**os.environ, "OMP_NUM_THREADS": "1", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
    environs = (
        {**shared, "RANK": str(rank), "LOCAL_RANK": str(rank), "WORLD_SIZE": str(ranks)} if port else shared
        for rank in range(ranks)
    )
    programs = [warm_python.start(*argv, env=environ) for environ in environs]
    return [(done.returncode, done.stdout, done.stderr) for done in (program.end() for program in programs)]


def answers(folder: Path, ranks: int = 2) -> list[dict[str, object]]:
    return [json.loads((folder / f"answer-{rank}.json").read_text()) for rank in range(ranks)]


def describe(config: Path, *options: str) -> dict[str, object]:
    code, stdout, stderr = adapter("describe", config, *options)[0]
    assert (code, stderr) == (0, "")
    described: dict[str, object] = json.loads(stdout)
    return described


def test_describe_gives_every_field_of_a_job_description(config: Path, tmp_path: Path) -> None:
    described = describe(config, "--set", "training.workers=3")
    assert described.pop("disk_bytes")
    assert described == {
        "module": "ups.doctor_job",
        "config": str(config),
        "overrides": ["training.workers=3"],
        "name": "small",
        "nproc": 2,
        "backend": "auto",
        "port": None,
        "threads_per_rank": 1,
        "workers": 3,
        "prefetch": 2,
        "batch_bytes": 8 * 2 * (8 * 8) * 4,  # 8 pairs of 8 tokens with 8 channels
        "output_dir": f"{tmp_path}/run",
        "cache_dirs": [f"{tmp_path}/run/cache"],
        "data_files": [str(data_file(tmp_path))],
        "precision": "float32",
        "models": ["autoencoder", "operator"],
        "env": {"OMP_NUM_THREADS": "1"},
    }


def test_describe_takes_sizes_from_the_header_of_a_file_that_was_not_generated(config: Path) -> None:
    as_generated = describe(config)["batch_bytes"]
    # Four times the cells of what the configuration would generate: the file is what counts.
    assert describe(config, "--set", "data.generate.resolution=8")["batch_bytes"] == as_generated


def test_describe_imports_no_torch(config: Path) -> None:
    code = (
        "import runpy, sys; sys.argv = ['ups.doctor_job', 'describe', sys.argv[1]]\n"
        "try: runpy.run_module('ups.doctor_job', run_name='__main__')\n"
        "except SystemExit: print(sorted({'torch', 'h5py', 'scipy'} & set(sys.modules)))"
    )
    result = subprocess.run([sys.executable, "-c", code, str(config)], capture_output=True, text=True, check=True)
    assert result.stdout.splitlines()[-1] == "[]"


def test_a_mistyped_key_ends_with_two_and_one_sentence(config: Path) -> None:
    config.write_text(config.read_text().replace("output:", "outputs:"))
    (answered,) = adapter("describe", config)
    assert answered == (2, "", f"unknown key 'outputs' in {config}:14; did you mean 'output'?\n")


def test_the_ranks_data_is_disjoint_complete_and_reshuffled(config: Path, tmp_path: Path) -> None:
    ended = adapter("data", config, "--result", f"{tmp_path}/answer-{{rank}}.json", ranks=2, port=1)
    assert [(code, stderr) for code, _, stderr in ended] == [(0, ""), (0, "")]
    first, second = answers(tmp_path)
    size = first["dataset_size"]
    assert size == 21 * (FRAMES - 1)  # 30 samples, of which 3 test and 6 validate
    for epoch in range(2):
        together = [index for answer in (first, second) for index in answer["epochs"][epoch]["indices"]]  # type: ignore[index]
        assert sorted(together) == list(range(size))
    assert first["epochs"][0]["indices"] != first["epochs"][1]["indices"]  # type: ignore[index]
    assert first["files"] == [{"path": str(data_file(tmp_path)), "error": ""}]
    assert (first["items_read"], first["samples_checked"]) == (53, 15)


@pytest.mark.parametrize("workers", [0, 2])
def test_a_nan_is_named_with_its_sample_whichever_process_reads_it(config: Path, tmp_path: Path, workers: int) -> None:
    with h5py.File(data_file(tmp_path), "r+") as file:
        file["tensor"][:, 3, 7] = np.nan
    options = ("--result", f"{tmp_path}/answer-{{rank}}.json", "--set", f"training.workers={workers}")
    assert [code for code, _, _ in adapter("data", config, *options)] == [0]
    (file,) = answers(tmp_path, ranks=1)[0]["files"]  # type: ignore[misc]
    assert file["kind"] == "nan"
    assert file["error"].startswith(f"{data_file(tmp_path)}: field 'u' holds NaN or infinite values in sample ")


def test_a_missing_file_is_named_with_the_command_that_makes_it(config: Path, tmp_path: Path) -> None:
    data_file(tmp_path).unlink()
    adapter("data", config, "--result", f"{tmp_path}/answer-{{rank}}.json")
    (file,) = answers(tmp_path, ranks=1)[0]["files"]  # type: ignore[misc]
    assert (file["kind"], file["error"]) == ("missing", f"there is no data file {data_file(tmp_path)}")
    assert file["fix"].startswith(f"make it: ups data generate --config {config}")


def test_a_file_that_was_cut_off_is_truncated(config: Path, tmp_path: Path) -> None:
    whole = data_file(tmp_path).read_bytes()
    data_file(tmp_path).write_bytes(whole[: len(whole) // 2])
    adapter("data", config, "--result", f"{tmp_path}/answer-{{rank}}.json")
    (file,) = answers(tmp_path, ranks=1)[0]["files"]  # type: ignore[misc]
    assert file["kind"] == "truncated"
    assert file["error"].startswith(f"{data_file(tmp_path)} is truncated: it is {len(whole) // 2} bytes long")


def test_more_ranks_than_a_batch_holds_end_with_two(config: Path, tmp_path: Path) -> None:
    options = ("--result", f"{tmp_path}/answer-{{rank}}.json", "--set", "stages.operator.batch_size=1")
    ended = adapter("data", config, *options, ranks=2, port=1)
    assert {code for code, _, _ in ended} == {2}
    assert "a global batch of 1 leaves some of the 2 ranks without a sample" in ended[0][2]


def free_port() -> int:
    import socket

    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def test_the_model_goes_through_every_phase_on_two_ranks(config: Path, tmp_path: Path) -> None:
    data_file(tmp_path).unlink()  # the model needs no data
    ended = adapter("model", config, "--result", f"{tmp_path}/answer-{{rank}}.json", ranks=2, port=free_port())
    assert [(code, stderr) for code, _, stderr in ended] == [(0, ""), (0, "")]
    for answer in answers(tmp_path):
        each = ("prepare", "construct", "move", "wrap", "forward", "backward", "optimizer")
        assert [phase["phase"] for phase in answer["phases"]] == [  # type: ignore[attr-defined]
            "process-group",
            *(f"autoencoder: {phase}" for phase in each),
            *(f"operator: {phase}" for phase in each),
        ]
        assert answer["bytes"] == 4 * answer["parameters"]  # type: ignore[operator]
        assert {"autoencoder.autoencoder", "operator.operator"} <= {row["path"] for row in answer["modules"]}  # type: ignore[attr-defined]


def test_a_model_that_fails_on_construction_leaves_the_phases_before_it(config: Path, tmp_path: Path) -> None:
    own = tmp_path / "own.py"
    own.write_text(
        "class Bad:\n    def __init__(self, config, **sizes):\n        raise RuntimeError('no such kernel')\n"
    )
    options = ("--result", f"{tmp_path}/answer-{{rank}}.json", "--set", f"operator.architecture={own}:Bad")
    ((code, _, stderr),) = adapter("model", config, *options, port=free_port())
    assert code == 1
    assert "no such kernel" in stderr
    assert answers(tmp_path, ranks=1)[0]["phases"][-1]["phase"] == "operator: prepare"  # type: ignore[index]


def test_a_dry_run_measures_a_real_run_and_leaves_nothing(config: Path, tmp_path: Path) -> None:
    ((code, _, stderr),) = adapter("dry-run", config, "--result", f"{tmp_path}/dry.json", "--steps", "3")
    assert code == 0, stderr
    answer = json.loads((tmp_path / "dry.json").read_text())
    assert (answer["steps"], answer["world_size"], answer["checkpoint_reread"]) == (6, 2, True)
    assert answer["samples_per_s"] > 0
    assert answer["peak_memory_bytes"] > 1 << 26
    assert 0 <= answer["data_wait_share"] < 1
    assert answer["checkpoint_bytes"] > 1000
    assert not (tmp_path / "run").exists()  # the user's own output folder


def test_a_dry_run_that_fails_passes_on_sentence_and_code(config: Path, tmp_path: Path) -> None:
    options = ("--set", "stages.autoencoder.lr=1e20", "--set", "stages.autoencoder.warmup_fraction=0")
    result = ("--result", f"{tmp_path}/dry.json", "--steps", "4")
    ((code, _, stderr),) = adapter("dry-run", config, *result, *options)
    assert code != 0
    assert "is not finite in stage autoencoder at step" in stderr
    assert not (tmp_path / "dry.json").exists()
