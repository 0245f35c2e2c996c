"""One rank of the modes' test: python modes_rank.py FILE CONFIG MODES, the modes as JSON: {name: {key: value}}.

Trains in each mode, one after the other in one process group; rank 0 writes what each came to. Keys are those of
`training`, and: `drill` what UPS_DRILL shall be, `then` the keys of another mode that goes on from the middle, `stages`
the only ones to be trained. Each mode compiles for itself: torch goes on uncompiled, without a word, where one piece
of code has been compiled for eight models.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

import torch

from ups import checkpoint, distributed
from ups.checkpointing.newest import newest
from ups.config import UpsConfig, load_config
from ups.distributed import World
from ups.drills import VARIABLE
from ups.errors import AgreedError
from ups.progress import Display
from ups.run_folder import RunFolder
from ups.stages import ORDER
from ups.stages.material import alone
from ups.stages.registry import make_stage
from ups.step.compiled import graphs
from ups.strategies.state import full_optimizer, full_state
from ups.train import Loop, Surroundings

ALONE = World(rank=0, local_rank=0, size=1, backend="gloo", device=torch.device("cpu"))
MIDDLE = 3  # steps


def trained(config: UpsConfig, world: World, mode: dict[str, Any]) -> dict[str, Any]:
    """Returns for each stage the validation error and what shows that the ranks are alike, after training in a mode."""
    mode = dict(mode)
    os.environ[VARIABLE], then = mode.pop("drill", ""), mode.pop("then", None)
    stages = mode.pop("stages", ["autoencoder", "operator"])
    found: dict[str, Any] = {}
    with tempfile.TemporaryDirectory(prefix="ups-modes-") as own:
        folder = Path(distributed.from_first(own, world))
        cache = dataclasses.replace(config.cache, enabled=False)
        output = dataclasses.replace(config.output, dir=folder)
        config = dataclasses.replace(config, output=output, cache=cache)
        material = alone(config)
        header = checkpoint.header("", config, material.spec, material.normalisation)
        if world.is_first:
            RunFolder(folder).claim(config)
        around = Surroundings(RunFolder(folder), (), Display(shown=False), header)
        for name in ORDER:
            if name not in stages:
                continue
            if mode.get("compile") or (then or {}).get("compile"):
                torch.compiler.reset()
            before = graphs()
            distributed.seed_everything(config.seed, rank=0)
            stage: Any = make_stage(name, config, world.device, material)
            stop = MIDDLE if then is not None else None
            loop = Loop(stage, with_mode(config, mode, stage.NAME, stop), world, around, None)
            try:
                timing = loop.run()
                if then is not None:
                    last = newest(RunFolder(folder), world, say=lambda line: None)
                    del loop
                    loop = Loop(stage, with_mode(config, then, stage.NAME, None), world, around, last)
                    timing = loop.run()
            except AgreedError as error:
                found[stage.NAME] = error.message
                continue
            found[stage.NAME] = loop.best
            found[f"{stage.NAME} ms"] = 1e3 * timing.later_step_s / max(1, timing.later_steps)
            found[f"{stage.NAME} alike"] = alike(loop, world)
            found[f"{stage.NAME} digest"] = digest(loop)
            found[f"{stage.NAME} graphs"] = graphs() - before
            found[f"{stage.NAME} steps, pieces, skips"] = [
                loop.position.step, loop.agreement.pieces, loop.agreement.skips
            ]  # fmt: skip
        distributed.barrier(world)
    return found


def with_mode(config: UpsConfig, mode: dict[str, Any], stage: str, steps: int | None) -> UpsConfig:
    """Returns the configuration with other settings of `training`, stopped after so many steps."""
    settings = dataclasses.replace(getattr(config.stages, stage), max_steps=steps)
    stages = dataclasses.replace(config.stages, **{stage: settings})
    return dataclasses.replace(config, stages=stages, training=dataclasses.replace(config.training, **mode))


def alike(loop: Loop, world: World) -> bool:
    """Whether all ranks stand at the same step with the same weights, average and optimizer state, all of it finite."""
    mine = [loop.position.step, loop.position.batch, loop.timing.samples, loop.agreement.pieces, loop.precision.scale]
    whole = [full_state(loop.module), full_state(loop.ema.module), full_optimizer(loop.optimizer)["state"]]
    if loop.strategy.wrapped is not loop.module or world.size == 1:  # each rank has all of it
        mine += [float(one.double().sum()) for tree in whole for one in leaves(tree)]
    finite = not world.is_first or all(bool(one.isfinite().all()) for tree in whole for one in leaves(tree))
    everybody = distributed.on_all_ranks(mine, world)
    return finite and all(one == everybody[0] for one in everybody)


def digest(loop: Loop) -> str:
    """Returns on the first rank what is equal where weights, average and optimizer state are, bit by bit."""
    whole = [full_state(loop.module), full_state(loop.ema.module), full_optimizer(loop.optimizer)["state"]]
    bits = [one.detach().cpu().contiguous().flatten().view(torch.uint8) for tree in whole for one in leaves(tree)]
    return hashlib.sha256(b"".join(one.numpy().tobytes() for one in bits)).hexdigest()


def leaves(tree: Any) -> list[torch.Tensor]:
    if isinstance(tree, torch.Tensor):
        return [tree]
    # By name: a state that was loaded holds the same in another order.
    items = sorted(tree.items(), key=lambda item: str(item[0])) if isinstance(tree, dict) else []
    return [one for _, item in items for one in leaves(item)]


if __name__ == "__main__":
    modes = json.loads(sys.argv[3])
    world = distributed.begin(backend="auto", timeout_s=600)  # where ranks compile, one may be minutes behind the other
    torch.set_num_threads(1)
    found = {name: trained(load_config(Path(sys.argv[2])), world, mode) for name, mode in modes.items()}
    if world.is_first:
        Path(sys.argv[1]).write_text(json.dumps(found))
    distributed.end()
