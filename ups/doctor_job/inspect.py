"""`inspect`: hands the modules of all stages, each with batches, to the doctor's inspection, which steps them.

Runs inside the inspection's process. Batches are the training loader's own; where there is no data file yet, they
are synthetic ones of the configured shape.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import torch

from ups.data.loaders import Batch, batches, loader
from ups.data.several.problems import problems
from ups.distributed import World
from ups.doctor_job.data import sampler_of
from ups.doctor_job.model import synthetic_batch, synthetic_material
from ups.doctor_job.request import Request
from ups.errors import ConfigError, UpsError
from ups.stages.material import alone
from ups.stages.registry import make_stage

INSPECTION = "_ups_doctor_inspection"  # the name under which the doctor's child can be found


def answer(request: Request) -> None:
    """Hands over the modules of all stages, as they are trained."""
    inspection: Any = sys.modules.get(INSPECTION)
    if inspection is None:
        raise ConfigError("`inspect` hands over modules in process", hint=f"ups-doctor inspect {request.path}")
    torch.set_num_threads(request.config.training.threads_per_rank)
    material, note = _material(request)
    device = torch.device(inspection.device() or "cpu")
    for name in request.config.stages.run:
        stage: Any = make_stage(name, request.config, device, material)
        source = _synthetic(name, stage, request, device) if note else _real(name, stage, request)
        inspection.inspect(name, stage.build(), source, note)


def _material(request: Request) -> tuple[Any, str]:
    """Returns the data, and why it is synthetic, "" where it is real."""
    try:
        found = {task: alone(one) for task, one in problems(request.config).items()}
        return found if request.config.data.tasks else found[""], ""
    except UpsError as error:  # `ups-doctor preflight` says what is wrong with the file
        return synthetic_material(request.config), f"synthetic batches: {error.message}"


def _real(name: str, stage: Any, request: Request) -> Iterator[Batch]:
    """Yields the batches of one epoch of rank 0."""
    config, dataset = request.config, stage.train_dataset
    sampler = sampler_of(name, dataset, config, 0, config.training.nproc or 1)
    sampler.set_epoch(0)
    return batches(loader(dataset, sampler, replace(config.training, workers=0)))


def _synthetic(name: str, stage: Any, request: Request, device: torch.device) -> Iterator[Batch]:
    size = request.config.training.nproc or 1
    world = World(rank=0, local_rank=0, size=size, backend="gloo", device=device)
    while True:
        yield synthetic_batch(name, stage, request.config, world)
