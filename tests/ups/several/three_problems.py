"""A run of three small problems: real data of advection, Burgers and Darcy, and the commands around it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import torch
import yaml
from small_run import newest, ups

from ups.checkpointing.export import content_of

TASKS: list[dict[str, Any]] = [
    {"task": "advection1d", "parameter": 0.4, "generate": {"samples": 10, "resolution": 32, "frames": 5}},
    {"task": "burgers1d", "parameter": 0.01, "generate": {"samples": 8, "resolution": 32, "frames": 4}},
    {"task": "darcy2d", "generate": {"samples": 12, "resolution": 8}, "weight": 1.5},
]
NAMES = ("advection1d", "burgers1d", "darcy2d")


def write(folder: Path, root: Path, name: str, **sections: dict[str, Any]) -> Path:
    stage = {"epochs": 2, "batch_size": 8, "lr": 0.003}
    config: dict[str, Any] = {
        "data": {"tasks": TASKS, "root": str(root)},
        "latent": {"dim": 8, "hidden_dim": 16, "depth": 1, "num_heads": 2},
        "operator": {"hidden_dim": 16, "group_size": 8, "num_heads": 2, "depths": [1, 1], "window": 4, "dropout": 0.1},
        "stages": {"autoencoder": dict(stage), "operator": dict(stage)},
        "training": {"log_every_steps": 2, "timeout_s": 60.0, "checkpoint_every_steps": 3},
        "output": {"dir": str(folder / name / "run")},
        "tracking": {"tensorboard": False},
    }
    for section, keys in sections.items():
        config[section] = {**config.get(section, {}), **keys}
    path = folder / f"{name}.yaml"
    path.write_text(yaml.safe_dump(config))
    return path


def train(config: Path, nproc: int = 1, *more: str) -> Any:
    return ups("train", config, "--nproc", str(nproc), "--no-doctor", "--no-preflight", *more)


def epochs(folder: Path) -> list[dict[str, Any]]:
    rows = [json.loads(line) for line in (folder / "run/metrics.jsonl").read_text().splitlines()]
    return [row for row in rows if row["kind"] == "epoch"]


def made_data(folder: Path) -> Path:
    made = ups("data", "generate", "--config", write(folder, folder / "data", "made"), "--jobs", "1")
    assert made.returncode == 0, made.stderr
    return folder / "data"


def differences(one: Path, other: Path) -> list[str]:
    """Returns what of the newest checkpoints and the metrics of two runs is not equal bit by bit."""
    first, second = (leaves(content_of(newest(folder))) for folder in (one, other))
    names = sorted(first.keys() | second.keys())
    own = ("/config", "/metrics_bytes", "/time")  # they lie in different folders, at other times
    found = [name for name in names if not name.startswith(own) and not equal(first.get(name), second.get(name))]
    return found + [f"metrics {row}" for row in changed_rows(one, other)]


def changed_rows(one: Path, other: Path) -> list[int]:
    first, second = (rows(folder) for folder in (one, other))
    longest = max(len(first), len(second))
    return [row for row in range(longest) if first[row : row + 1] != second[row : row + 1]]


def rows(folder: Path) -> list[dict[str, Any]]:
    lines = (folder / "run/metrics.jsonl").read_text().splitlines()
    return [{key: value for key, value in json.loads(line).items() if key != "seconds"} for line in lines]


def leaves(value: Any, name: str = "") -> dict[str, Any]:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list | tuple) else None
    if items is None:
        return {name: value}
    return {key: leaf for part, item in items for key, leaf in leaves(item, f"{name}/{part}").items()}


def equal(one: Any, other: Any) -> bool:
    if isinstance(one, torch.Tensor) and isinstance(other, torch.Tensor):
        return one.dtype == other.dtype and torch.equal(one, other)
    return bool(one == other)
