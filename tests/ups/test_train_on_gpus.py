"""Training on real GPUs over NCCL: checkpoints name no GPU, a resumed run goes on, too many ranks are refused."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from small_run import newest, ups_from_cold, write_config, write_data

from ups.checkpointing.export import content_of

pytestmark = pytest.mark.gpu


@pytest.fixture
def gpus() -> int:
    """How many GPUs torch can use."""
    count = torch.cuda.device_count()
    if not count or not torch.distributed.is_nccl_available():
        pytest.skip("needs an NVIDIA GPU and a torch built for CUDA")
    return count


def tensors(value: Any) -> Iterator[torch.Tensor]:
    """Yields every tensor in a checkpoint."""
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from tensors(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from tensors(item)


@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_every_gpu_trains_and_the_checkpoints_lie_on_the_cpu(gpus: int, precision: str, tmp_path: Path) -> None:
    write_data(tmp_path)
    config = write_config(tmp_path, training={"precision": precision, "workers": 1})
    ranks = min(2, gpus)
    done = ups_from_cold("train", config, "--no-preflight", "--backend", "nccl", "--nproc", str(ranks))
    assert done.returncode == 0, done.stderr
    for name in ("autoencoder", "best"):
        content = torch.load(tmp_path / f"run/checkpoints/{name}.pt", weights_only=True)
        assert {tensor.device.type for tensor in tensors(content)} == {"cpu"}
    last = content_of(newest(tmp_path))
    assert {tensor.device.type for tensor in tensors(last)} == {"cpu"}
    assert [sorted(rank["random"]) for rank in last["ranks"]] == [["cuda", "numpy", "python", "torch"]] * ranks


@pytest.mark.parametrize("precision", ["float32", "bfloat16", "float16"])
@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"activation_checkpointing": True, "micro_batch": "auto"},
        {"cpu_offload": True},
        {"reshard_after_forward": False},
        {"compile": "blocks"},
    ],
)
def test_a_model_sharded_over_gpus_trains_as_on_one(
    gpus: int, changes: dict[str, Any], precision: str, tmp_path: Path
) -> None:
    if gpus < 2:
        pytest.skip("needs two GPUs")
    write_data(tmp_path)
    losses = []
    for ranks, training in (("1", {}), ("2", {"strategy": "fsdp2", **changes})):
        output = {"dir": str(tmp_path / ranks)}
        config = write_config(tmp_path, training={"precision": precision, **training}, output=output)
        done = ups_from_cold("train", config, "--no-preflight", "--backend", "nccl", "--nproc", ranks)
        assert done.returncode == 0, done.stderr
        lines = [json.loads(line) for line in (tmp_path / ranks / "metrics.jsonl").read_text().splitlines()]
        losses.append([line["validation_nrmse"] for line in lines if line["kind"] == "epoch"])
    assert losses[1] == pytest.approx(losses[0], rel=1e-4 if precision == "float32" else 2e-2)


@pytest.mark.parametrize("phase", ["forward", "backward"])
def test_a_sharded_gpu_without_memory_takes_nobody_with_it(gpus: int, phase: str, tmp_path: Path) -> None:
    if gpus < 2:
        pytest.skip("needs two GPUs")
    write_data(tmp_path)
    config = write_config(tmp_path, training={"strategy": "fsdp2"})
    drill = {"UPS_DRILL": f"memory rank=1 step=1 phase={phase} stage=operator"}
    done = ups_from_cold("train", config, "--no-preflight", "--backend", "nccl", "--nproc", "2", environ=drill)
    assert done.returncode == 0, done.stderr
    assert "all ranks take the batch again in 2 pieces" in done.stderr


def test_a_run_on_gpus_that_was_stopped_goes_on_where_it_stood(gpus: int, tmp_path: Path) -> None:
    write_data(tmp_path)
    ranks = str(min(2, gpus))
    stage = {"epochs": 3, "batch_size": 8, "lr": 0.003}
    stopped = {"autoencoder": {**stage, "max_steps": 4}, "operator": stage}
    command = ("--no-preflight", "--backend", "nccl", "--nproc", ranks, "--stage", "autoencoder")
    first = ups_from_cold("train", write_config(tmp_path, stages=stopped), *command)
    assert first.returncode == 0, first.stderr
    again = ups_from_cold("train", write_config(tmp_path, stages=stopped), *command, "--resume")
    assert again.returncode == 0, again.stderr
    lines = [json.loads(line) for line in (tmp_path / "run/metrics.jsonl").read_text().splitlines()]
    assert [line["step"] for line in lines if line["kind"] == "step"] == [2, 4]
    assert content_of(newest(tmp_path))["position"]["step"] == 4


def test_more_ranks_than_gpus_are_refused_in_one_sentence(gpus: int, tmp_path: Path) -> None:
    write_data(tmp_path)
    refused = ups_from_cold(
        "train", write_config(tmp_path), "--no-preflight", "--backend", "nccl", "--nproc", str(gpus + 1)
    )
    assert refused.returncode != 0
    assert f"LOCAL_RANK {gpus} is outside the {gpus} visible GPUs" in refused.stderr
    assert "Traceback" not in refused.stderr
