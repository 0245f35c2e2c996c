"""`parity`: one stage's real loop for a few steps, as one of N ranks or as one process, for the doctor to compare.

Global batches are the same whatever the number of ranks (`GlobalBatchSampler`), so nothing has to be fed. Everything is
written into a temporary folder; the doctor's recorder in this process ends it after the last step.
"""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from ups import checkpoint, distributed
from ups.config import StageConfig
from ups.data.several.problems import problems
from ups.distributed import World, seed_everything
from ups.doctor_job.request import Request
from ups.progress import Display
from ups.run_folder import RunFolder
from ups.stages import ORDER
from ups.stages.material import alone
from ups.stages.registry import make_stage
from ups.train import Surroundings, train


def answer(request: Request) -> None:
    """Trains `request.stage` for `request.steps` steps. Raises DataError where there is no data to train on."""
    name = request.stage or ORDER[0]
    torch.set_num_threads(request.config.training.threads_per_rank)
    several = request.world_size > 1
    training = request.config.training
    world = distributed.begin(backend=training.backend, timeout_s=training.timeout_s) if several else _one()
    healthy = False
    try:
        _train(name, request, world)
        healthy = True
    finally:
        distributed.end(healthy=healthy)


def _one() -> World:
    device = torch.device("cuda", 0) if torch.cuda.is_available() else torch.device("cpu")
    return replace(distributed.alone(), device=device)


def _in_float64(stage: Any) -> None:
    for one in getattr(stage, "stages", {}).values():
        _in_float64(one)
    build, encoder = stage.build, getattr(stage, "encoder", None)
    stage.build = lambda: build().double()
    for frozen in (encoder, getattr(stage, "teacher", None)):
        if frozen is not None:
            frozen.double()


def _train(name: str, request: Request, world: World) -> None:
    with tempfile.TemporaryDirectory(prefix="ups-parity-") as folder:
        # Batches come from this process, where the recorder sees them, and latents from the encoder.
        training = replace(request.config.training, workers=0)
        settings: StageConfig = replace(getattr(request.config.stages, name), max_steps=request.steps)
        changed: dict[str, Any] = {name: settings}
        stages = replace(request.config.stages, **changed)
        output = replace(request.config.output, dir=Path(folder))
        cache = replace(request.config.cache, enabled=False)
        config = replace(request.config, training=training, stages=stages, output=output, cache=cache)
        material = {task: alone(one) for task, one in problems(config).items()}
        seed_everything(config.seed, rank=0)  # an autoencoder that is not trained is the same on every rank
        stage: Any = make_stage(name, config, world.device, material if config.data.tasks else material[""])
        if torch.get_default_dtype() is torch.float64:  # so the doctor compares, where nothing else is asked for
            _in_float64(stage)
        described = {task: (own.spec, own.normalisation) for task, own in material.items()}
        header = checkpoint.header_of_several(config, described)
        output_folder = RunFolder(Path(folder))
        output_folder.claim(config)
        train(stage, config, world, Surroundings(output_folder, (), Display(shown=False), header))
