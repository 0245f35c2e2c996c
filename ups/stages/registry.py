"""A stage by its name: the file of this package that is called so."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from ups import checkpoint
from ups.config import UpsConfig
from ups.data.several.problems import problems
from ups.errors import ConfigError
from ups.run_folder import RunFolder
from ups.stages import NEEDS, ORDER
from ups.stages.joint import JointStage


def make_stage(
    name: str,
    config: UpsConfig,
    device: torch.device,
    material: Any = None,
    trained: Any = None,
    *,
    cached: bool = False,
    folders: Mapping[str, Path] | None = None,
) -> Any:
    """Returns the stage; `trained` holds what it needs of earlier ones, nothing for checks. Raises ConfigError.

    Of several problems `material`, `trained` and `folders`, where their caches are read, go by the problem's name.
    """
    if config.data.tasks:
        parts = {}
        for task, one in problems(config).items():
            if folders and task in folders:
                one = replace(one, cache=replace(one.cache, dir=folders[task]))
            its = (None if given is None else given[task] for given in (material, trained))
            parts[task] = make_stage(name, one, device, *its, cached=cached)
        return JointStage(config, name, parts)
    if name not in ORDER:
        raise ConfigError(f"there is no stage '{name}'", hint=f"known are: {', '.join(ORDER)}")
    stage = importlib.import_module(f"ups.stages.{name}").Stage
    if name == "autoencoder":
        return stage(config, device, material)
    return stage(config, device, material, trained, cached)


def trained_before(name: str, folder: RunFolder, task: str = "") -> dict[str, Any]:
    """Returns the states of earlier stages by stage, those that `name` needs and those that are there.

    `task` is the problem, where the run has several.

    Raises ConfigError where one that it needs was not trained.
    """
    found: dict[str, Any] = {}
    for earlier in ORDER[: ORDER.index(name)]:
        path = folder.trained(earlier)
        if not path.exists() and earlier not in NEEDS[name]:
            continue
        if not path.exists():
            raise folder.untrained(name, earlier)
        content = checkpoint.load(path, "autoencoder" if earlier == "autoencoder" else "best")
        if task:
            content = content["tasks"][task]
        found[earlier] = content[earlier] if earlier in content else content["later"][earlier]
    return found


def trained_autoencoder(folder: RunFolder, task: str = "") -> dict[str, torch.Tensor]:
    """Returns the weights of the first stage. Raises ConfigError where it has not been trained."""
    state: dict[str, torch.Tensor] = trained_before("operator", folder, task)["autoencoder"]
    return state
