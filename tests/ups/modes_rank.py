"""One rank of the modes' test: python modes_rank.py FILE CONFIG MODES, the modes as JSON: {name: {key: value}}.

Trains both stages in each mode, one after the other in one process group; rank 0 writes what each came to.
"""

from __future__ import annotations

import dataclasses
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

import torch

from ups import checkpoint, distributed
from ups.config import UpsConfig, load_config
from ups.distributed import World
from ups.progress import Display
from ups.run_folder import RunFolder
from ups.stages import autoencoder, operator
from ups.stages.material import alone
from ups.train import Loop, Surroundings

ALONE = World(rank=0, local_rank=0, size=1, backend="gloo", device=torch.device("cpu"))


def trained(config: UpsConfig, world: World, mode: dict[str, Any]) -> dict[str, float]:
    """Returns the validation error of each stage, and the seconds of a step, after training in this mode."""
    training = dataclasses.replace(config.training, **mode)
    found: dict[str, float] = {}
    with tempfile.TemporaryDirectory(prefix="ups-modes-") as folder:
        output = dataclasses.replace(config.output, dir=Path(folder))
        cache = dataclasses.replace(config.cache, enabled=False)
        config = dataclasses.replace(config, training=training, output=output, cache=cache)
        material = alone(config)
        header = checkpoint.header("", config, material.spec, material.normalisation)
        out = RunFolder(Path(folder))
        out.claim(config)
        for make in (autoencoder.Stage, operator.Stage):
            distributed.seed_everything(config.seed, rank=0)
            stage: Any = make(config, world.device, material)
            loop = Loop(stage, config, world, Surroundings(out, (), Display(shown=False), header), None)
            timing = loop.run()
            found[stage.NAME] = loop.best
            found[f"{stage.NAME} steps"] = timing.steps
            found[f"{stage.NAME} ms"] = 1e3 * timing.later_step_s / max(1, timing.later_steps)
    return found


if __name__ == "__main__":
    modes = json.loads(sys.argv[3])
    world = distributed.begin(backend="auto", timeout_s=60)
    torch.set_num_threads(1)
    found = {name: trained(load_config(Path(sys.argv[2])), world, mode) for name, mode in modes.items()}
    if world.is_first:
        Path(sys.argv[1]).write_text(json.dumps(found))
    distributed.end()
