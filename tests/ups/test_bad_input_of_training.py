"""Bad input to `ups train`: one sentence and what helps, a non-zero exit code, no traceback, nothing lost."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import h5py
import pytest
from small_run import ups, write_config, write_data

from diagnostics.core.errors import DoctorError
from ups.checkpointing.newest import opened
from ups.config import DataConfig, UpsConfig
from ups.run_folder import RunFolder


def refused(folder: Path, *arguments: str, **changes: object) -> tuple[int, list[str]]:
    """Returns exit code and stderr of a training that must not succeed; paths are shown below DIR."""
    done = ups("train", write_config(folder, **changes), "--no-preflight", *arguments)
    assert "Traceback" not in done.stderr + done.stdout
    assert "completed" not in done.stdout
    return done.returncode, done.stderr.replace(str(folder), "DIR").splitlines()


def files(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def test_a_missing_data_file(tmp_path: Path) -> None:
    code, said = refused(tmp_path)
    assert code == 1
    assert said[0] == "error: there is no data file DIR/1D_Advection_Sols_beta0.4.hdf5"
    assert not (tmp_path / "run").exists()


def test_a_parameter_that_the_data_file_does_not_have_is_a_wrong_configuration(tmp_path: Path) -> None:
    path = write_data(tmp_path)
    code, said = refused(tmp_path, "--set", "data.parameter=0.9", "--set", f"data.file={path.name}")
    assert (code, said) == (2, [
        f"error: DIR/{path.name} holds advection1d with beta = 0.4, the configuration asks for 0.9",
        "  set data.parameter=0.4, or name another file in data.file",
    ])  # fmt: skip
    code, said = refused(tmp_path, "--set", "data.parameter=nonsense")
    assert (code, said) == (
        2,
        ["error: --set data.parameter=nonsense: data.parameter must be a number, got 'nonsense'"],
    )


def test_a_truncated_data_file(tmp_path: Path) -> None:
    path = write_data(tmp_path)
    path.write_bytes(path.read_bytes()[:-400])
    code, said = refused(tmp_path)
    assert code == 1
    assert said[0].startswith("error: DIR/1D_Advection_Sols_beta0.4.hdf5")
    assert "truncated" in said[0]


@pytest.mark.parametrize(("sample", "workers"), [(-1, 0), (1, 1)])
def test_a_value_that_is_not_finite_names_file_and_sample(tmp_path: Path, sample: int, workers: int) -> None:
    """The last sample is in the training split, and seen when its statistics are; sample 1 is validation's."""
    with h5py.File(write_data(tmp_path), "r+") as file:
        file["tensor"][sample, 2, 5] = float("nan")
    code, said = refused(tmp_path, training={"workers": workers})
    assert code == 1
    sentence = next(line for line in said if line.startswith("error:"))
    assert "1D_Advection_Sols_beta0.4.hdf5" in sentence
    assert f"sample {sample % 10}" in sentence


def test_a_wrong_type_names_its_line(tmp_path: Path) -> None:
    code, said = refused(tmp_path, training={"workers": "many"})
    assert (code, len(said)) == (2, 1)
    assert said[0].startswith("error: DIR/small.yaml:")
    assert said[0].endswith("training.workers must be a whole number, got 'many'")


def test_an_unknown_task_names_the_ones_there_are(tmp_path: Path) -> None:
    code, said = refused(tmp_path, data={"task": "advection"})
    assert code == 2
    assert (
        "data.task is 'advection'; it takes one of advection1d, burgers1d, darcy2d, reacdiff2d, diffreact2d" in said[0]
    )


def test_more_ranks_than_samples(tmp_path: Path) -> None:
    write_data(tmp_path, samples=3, frames=2)
    code, said = refused(tmp_path)
    assert code == 2
    assert said == [
        "error: 2 ranks are more than the 1 training samples: some would have nothing to do",
        "  start fewer ranks (--nproc 1), or generate more data",
    ]


def test_a_batch_smaller_than_the_ranks(tmp_path: Path) -> None:
    write_data(tmp_path)
    code, said = refused(tmp_path, "--set", "stages.operator.batch_size=1")
    assert (code, said[0]) == (2, "error: a global batch of 1 leaves some of the 2 ranks without a sample")


def test_an_output_folder_with_a_run_in_it_is_left_as_it_is(tmp_path: Path) -> None:
    write_data(tmp_path)
    (tmp_path / "run/checkpoints").mkdir(parents=True)
    (tmp_path / "run/checkpoints/best.pt").write_bytes(b"the work of a week")
    before = files(tmp_path / "run")
    assert refused(tmp_path) == (
        2,
        [
            "error: DIR/run holds a run already (checkpoints/best.pt), and nothing of it is overwritten",
            "  go on with it: add --resume; or start another: --set output.dir=DIR/run-2",
        ],
    )
    assert files(tmp_path / "run") == before


def test_resuming_where_no_run_is(tmp_path: Path) -> None:
    write_data(tmp_path)
    code, said = refused(tmp_path, "--resume")
    assert (code, said[0]) == (2, "error: there is no run in DIR/run to go on with: config.yaml is not there")


def test_the_second_stage_without_the_first(tmp_path: Path) -> None:
    write_data(tmp_path)
    code, said = refused(tmp_path, "--stage", "operator")
    assert code == 2
    assert said[-2:] == [
        "error: stage operator needs the trained autoencoder, and DIR/run/checkpoints/autoencoder.pt is not there",
        "  name it before in stages.run, or train it first: ups train DIR/small.yaml --stage autoencoder",
    ]


def test_an_unwritable_output_folder(tmp_path: Path) -> None:
    write_data(tmp_path)
    code, said = refused(tmp_path, output={"dir": "/proc/run"})
    assert code == 1
    assert said[0].startswith("error: cannot make the output folder /proc/run:")


def test_an_output_folder_of_somebody_else() -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can become somebody without permission")
    config = UpsConfig(data=DataConfig(task="advection1d"))
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        os.seteuid(65534)
        try:
            with pytest.raises(DoctorError, match=f"cannot make the output folder {folder}/run: permission denied"):
                RunFolder(Path(folder) / "run").claim(config)
        finally:
            os.seteuid(0)
        assert list(Path(folder).iterdir()) == []


def test_nccl_where_there_is_no_gpu(tmp_path: Path) -> None:
    import torch

    if torch.cuda.is_available():
        pytest.skip("there is a GPU here")
    write_data(tmp_path)
    code, said = refused(tmp_path, "--backend", "nccl")
    assert code == 2
    assert said == [
        "error: backend nccl was asked for, but there is no GPU",
        "  --backend gloo runs on the CPU",
    ]


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Callable[[int], Path]]:
    """Mounts a RAM disk of so many bytes below tmp_path."""
    place = tmp_path / "small"
    place.mkdir()

    def mount(size: int) -> Path:
        if os.geteuid() != 0:
            pytest.skip("only root can mount a small disk")
        done = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", f"size={size}", "none", str(place)],
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            pytest.skip(f"no small disk can be mounted here: {done.stderr.strip()}")
        return place

    yield mount
    if place.is_mount():
        subprocess.run(["umount", str(place)], check=True)


def test_a_disk_that_fills_up_keeps_the_last_good_checkpoint(tmp_path: Path, small_disk: Callable[[int], Path]) -> None:
    """The first stage's checkpoints fit beside each other, the operator's do not."""
    write_data(tmp_path)
    disk = small_disk(3 << 19)
    code, said = refused(tmp_path, output={"dir": str(disk / "run")}, cache={"dir": str(tmp_path / "cache")})
    assert code == 1
    sentence = next(line for line in said if line.startswith("error:"))
    good = RunFolder(disk / "run").saved()[0]
    assert ": the disk is full" in sentence
    assert sentence.endswith(f"; the last good one is DIR/small/run/checkpoints/{good.name}")
    assert good.name.startswith("autoencoder-0002-")
    opened(good)  # every file of it is looked at
    found = {path.name for path in good.parent.iterdir()}
    assert not [name for name in found if name.endswith((".tmp", ".writing"))]


def test_no_room_for_the_cache_is_said_before_a_byte_is_written(
    tmp_path: Path, small_disk: Callable[[int], Path]
) -> None:
    write_data(tmp_path)
    disk = small_disk(1 << 20)
    code, said = refused(tmp_path, cache={"dir": str(disk / "cache")})
    assert code == 1
    sentence = next(line for line in said if line.startswith("error:"))
    assert sentence.startswith("error: the latent cache needs 0.0 MB in DIR/small")
    assert list(disk.iterdir()) == []


def test_a_rank_that_runs_into_a_programming_error_shows_its_traceback(tmp_path: Path) -> None:
    """The failing twin of all of the above: a fault of the program is not hidden behind a sentence."""
    write_data(tmp_path)
    (tmp_path / "mine.py").write_text(
        "class Broken:\n    def __init__(self, *a, **k):\n        raise KeyError('mine')\n"
    )
    done = ups(
        "train", write_config(tmp_path, operator={"architecture": f"{tmp_path}/mine.py:Broken"}), "--no-preflight"
    )
    assert done.returncode == 1
    assert "KeyError: 'mine'" in done.stderr
    assert "completed" not in done.stdout


def test_a_later_stage_refuses_what_another_model_has_trained(tmp_path: Path) -> None:
    write_data(tmp_path)
    done = ups(
        "train", write_config(tmp_path), "--no-preflight", "--no-doctor", "--nproc", "1", "--stage", "autoencoder"
    )
    assert done.returncode == 0, done.stderr
    before = (tmp_path / "run/checkpoints/autoencoder.pt").read_bytes()
    latent = {"dim": 12, "hidden_dim": 16, "depth": 1, "num_heads": 2}
    code, said = refused(tmp_path, "--no-doctor", "--nproc", "1", "--stage", "operator", latent=latent)
    assert code == 2
    assert said[0].startswith("error: the trained autoencoder is that of another model: its decoder.layers.0.key_value")
    assert len(said) == 2
    assert (tmp_path / "run/checkpoints/autoencoder.pt").read_bytes() == before


def test_a_run_whose_data_have_become_others_is_not_gone_on_with_and_one_whose_file_was_copied_is(
    tmp_path: Path,
) -> None:
    data, one_rank = write_data(tmp_path), ("--no-preflight", "--nproc", "1", "--stage", "autoencoder")
    config = write_config(tmp_path)
    done = ups("train", config, *one_rank, "--set", "stages.autoencoder.max_steps=2")
    assert done.returncode == 0, done.stderr
    os.utime(data, (1, 1))
    again = ups("train", config, *one_rank, "--resume", "--set", "stages.autoencoder.max_steps=3")
    assert (again.returncode, again.stdout.split(";")[0]) == (0, "completed: 1 rank, 1 step"), again.stderr
    with h5py.File(data, "r+") as file:
        file["tensor"][...] *= 2.0
    before = files(tmp_path / "run")
    code, said = refused(tmp_path, *one_rank[1:], "--resume")
    assert code == 2
    assert said[-2].startswith(
        "error: DIR/1D_Advection_Sols_beta0.4.hdf5 is not what the run in DIR/run was trained on: over its training "
        "split the std of u was "
    )
    assert said[-1] == "  put the file back, or start another run: --set output.dir=..."
    assert files(tmp_path / "run") == before


def test_an_output_folder_that_cannot_be_made_is_told_before_a_rank_is_started(tmp_path: Path) -> None:
    write_data(tmp_path)
    (tmp_path / "taken").write_text("")
    for place, there in (("taken", "taken"), ("taken/run", "taken")):
        code, said = refused(tmp_path, "--set", f"output.dir={tmp_path}/{place}")
        assert (code, said) == (
            2,
            [
                f"error: output.dir is DIR/{place}, and DIR/{there} is no folder",
                "  name another: --set output.dir=DIR",
            ],
        )


def test_a_folder_that_is_there_or_can_be_made_is_no_fault(tmp_path: Path) -> None:
    for place in (tmp_path, tmp_path / "a" / "b"):
        RunFolder(place).check_place()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_may_not_be_written_is_told(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(DoctorError, match="nothing can be written into") as told:
        RunFolder(tmp_path / "run").check_place()
    assert told.value.exit_code == 2
