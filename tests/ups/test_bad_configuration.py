"""What is wrong about a configuration by itself is told before its data is asked for: no file is there in this test."""

from __future__ import annotations

from pathlib import Path

import pytest
from small_run import ups, write_config, write_data

WITHOUT_DATA: list[tuple[str, str]] = [
    ("operator.architecture=pdet_stak", "operator.architecture 'pdet_stak' is unknown; did you mean 'pdet_stack'?"),
    ("operator.architecture=mine.py:Op", "operator.architecture mine.py:Op: there is no file mine.py"),
    ("operator.architecture=no_such:Op", "operator.architecture no_such:Op cannot be imported: No module named"),
    ("operator.architecture=mine.py:2x", "operator.architecture mine.py:2x names no class behind its colon"),
    ("operator.architecture=pdet_stack", "operator.depths [1, 1] has 2 levels, and pdet_stack has one"),
    ("operator.window=1", "operator.window is 1; a window holds 2 tokens along each axis, or more"),
    ("latent.num_heads=3", "latent.num_heads 3 does not divide latent.hidden_dim 16"),
    ("latent.depth=0", "latent.dim 8 and latent.depth 0 must be 1 or more"),
    ("latent.exact=true latent.dim=2", "latent.exact needs latent.dim of at least the 4 numbers of one patch"),
    ("objective.rollout=2 data.task=darcy2d", "objective.rollout and objective.longest_lead are for what goes on in"),
    ("stages.run=[autoencoder,operator,steady]", "stage steady solves steady problems, and advection1d goes on in"),
    ("stages.run=[operator]", "stage operator needs the trained autoencoder, and"),
    ("stages.run=[autoencoder,operator,consistency]", "stage consistency needs the trained diffusion, and"),
    ("stages.operator.batch_size=1", "a global batch of 1 leaves some of the 2 ranks without a sample"),
    ("data.task=burgers1d data.parameter=-1", "burgers1d needs Nu above 0, got -1"),
    ("data.generate.mode=pdebench", "mode 'pdebench' exists for darcy2d, advection1d has one mode: clean"),
    ("cache.ram_disk=/no/such/folder", "cache.ram_disk is /no/such/folder, and there is no such folder"),
    ("training.strategy=none", "training.strategy=none trains on one rank, and there are 2"),
    ("training.strategy=fsdp2 training.compile=true", "training.compile=true with fsdp2 would break the graph"),
    ("training.strategy=fsdp2 objective.rollout=1", "objective.rollout calls the operator several times in a step"),
    ("training.micro_batch=auto stages.operator.accumulate=2", "training.micro_batch and stages.operator.accumulate"),
    ("training.strategy=hsdp", "hsdp with 2 ranks and shards over 2 of them is what fsdp2 does"),
    ("training.shard_ranks=2", "training.shard_ranks is for sharded models, and the strategy is ddp"),
]


def settings(words: str) -> list[str]:
    return [word for one in words.split() for word in ("--set", one)]


@pytest.mark.parametrize(("given", "said"), WITHOUT_DATA)
def test_a_mistake_in_the_configuration_is_told_before_the_data_is_missed(
    tmp_path: Path, given: str, said: str
) -> None:
    arguments = ["--no-preflight", "--nproc", "2", *settings(f"training.backend=gloo {given}")]
    done = ups("train", write_config(tmp_path), *arguments)
    assert done.returncode == 2, done.stderr
    lines = done.stderr.splitlines()
    assert lines[0].startswith(f"error: {said}"), lines
    assert len(lines) <= 2
    assert "CONFIG" not in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["small.yaml"]


def test_what_is_right_without_data_is_told_that_the_data_is_missing(tmp_path: Path) -> None:
    """The failing twin: a file of the user's own is not run before there are ranks, and its data is what lacks."""
    (tmp_path / "mine.py").write_text("raise SystemExit('run too early')\n")
    own = settings(f"operator.architecture={tmp_path}/mine.py:Op data.test_fraction=0.3")
    done = ups("train", write_config(tmp_path), "--no-preflight", "--nproc", "2", *own)
    assert (done.returncode, done.stderr.splitlines()[0]) == (
        1,
        f"error: there is no data file {tmp_path}/1D_Advection_Sols_beta0.4.hdf5",
    )
    (tmp_path / "mine.py").write_text("class Op:\n  def (:\n")
    done = ups("train", write_config(tmp_path), "--no-preflight", "--nproc", "2", *own)
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1)
    assert "cannot be imported: invalid syntax (mine.py, line 2)" in done.stderr


@pytest.mark.parametrize("dry", [(), ("--dry-run",)])
def test_a_pipeline_makes_no_data_for_what_cannot_be_trained(tmp_path: Path, dry: tuple[str, ...]) -> None:
    config = write_config(tmp_path)
    for given, said in (
        ("operator.architecture=pdet_stak", "operator.architecture 'pdet_stak' is unknown"),
        ("stages.run=[autoencoder,operator,steady]", "stage steady solves steady problems"),
    ):
        done = ups("pipeline", config, *settings(given), *dry)
        assert done.returncode == 2, done.stderr
        assert said in done.stderr
        assert not list(tmp_path.glob("*.hdf5"))


def test_a_wish_that_cannot_be_is_told_before_data_and_before_work(tmp_path: Path) -> None:
    write_data(tmp_path)
    trained = ups(
        "train", write_config(tmp_path), "--no-preflight", "--no-doctor", "--nproc", "1",
        *settings("stages.autoencoder.max_steps=1 stages.operator.max_steps=1"),
    )  # fmt: skip
    assert trained.returncode == 0, trained.stderr
    best, unread, data = tmp_path / "run/checkpoints/best.pt", tmp_path / "no.hdf5", next(tmp_path.glob("*.hdf5"))
    unread.write_bytes(b"")  # it is there, and no data file: who reads it says so
    for arguments, said in (
        (("evaluate", best, "--data", unread, "--samples", "0"), "--samples 0: one sample is the least"),
        (("predict", best, unread, "--out", tmp_path / "p.h5", "--samples", "0"), "--samples 0: one sample"),
        (("predict", best, unread, "--out", tmp_path / "p.h5", "--members", "1"), "--members 1: two draws"),
        (("predict", best, unread, "--out", tmp_path / "p.h5", "--correct"), f"{best} holds no diffusion"),
        (("predict", best, data, "--out", tmp_path / "p.png"), f"--out {tmp_path}/p.png is the HDF5 file, and its"),
    ):
        done = ups(*arguments)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.startswith(f"error: {said}"), done.stderr
    assert not list(tmp_path.glob("p.*"))
    done = ups("evaluate", best, "--out", data)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"error: {data} is a file, a folder was expected"), done.stderr
