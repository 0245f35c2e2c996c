"""`model`: one rank builds the configuration's modules and takes one step with each, phase by phase.

The batch is synthetic: no data file is needed, though its header is used where there is one. The answer
is rewritten after each phase, and each phase is announced before it begins, so that a crash tells where.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, TypeVar

import numpy as np
import torch
from torch import nn

from ups import distributed
from ups.config import UpsConfig
from ups.data.fields import FieldReader, FieldSpec, open_data
from ups.data.several.problems import problems
from ups.data.splits import Splits
from ups.distributed import World
from ups.doctor_job.data import unnormalised
from ups.doctor_job.describe import data_path, generated_extent
from ups.doctor_job.request import Request
from ups.errors import UpsError
from ups.schedule import make_optimizer
from ups.stages.material import Material
from ups.stages.registry import make_stage
from ups.strategies.choice import strategy_of

Given = TypeVar("Given")
Batch = dict[str, torch.Tensor]
LISTED_MODULES = 200


@dataclass(slots=True)
class Progress:
    """The answer as far as it got."""

    request: Request
    parameters: int = 0
    bytes: int = 0
    phases: list[dict[str, Any]] = field(default_factory=list)
    modules: list[dict[str, Any]] = field(default_factory=list)

    def run(self, phase: str, work: Callable[[], Given]) -> Given:
        """Announces a phase, does its work, and writes the answer down."""
        announce(phase)
        began = time.perf_counter()
        result = work()
        self.phases.append({"phase": phase, "seconds": time.perf_counter() - began})
        self.write()
        return result

    def write(self) -> None:
        """Rewrites the answer file."""
        names = ("parameters", "bytes", "phases", "modules")
        self.request.write({name: getattr(self, name) for name in names})


def announce(phase: str) -> None:
    """Tells the doctor's agent, where one is in this process, what begins now."""
    agent = sys.modules.get("_ups_doctor_agent")
    if agent is not None:
        agent.mark(phase)
    sys.audit("ups_doctor.phase", phase)


def answer(request: Request) -> None:
    """Steps each stage's module once, with the ranks of this run; writes parameters, phases and modules."""
    progress = Progress(request)
    training = request.config.training
    torch.set_num_threads(training.threads_per_rank)
    world = progress.run(
        "process-group", lambda: distributed.begin(backend=training.backend, timeout_s=training.timeout_s)
    )
    healthy = False
    try:
        _all_stages(request.config, world, progress)
        healthy = True
    finally:
        distributed.end(healthy=healthy)


def _all_stages(config: UpsConfig, world: World, progress: Progress) -> None:
    material = synthetic_material(config)
    for name in config.stages.run:
        # The stages' names of the same phase differ, so that the last phase reached names its module too.
        stage: Any = progress.run(f"{name}: prepare", partial(make_stage, name, config, world.device, material))
        module: nn.Module = progress.run(f"{name}: construct", stage.build)
        _count(name, module, progress)
        module = progress.run(f"{name}: move", partial(module.to, world.device))
        _step(name, module, stage, config, world, progress)


def _step(name: str, module: nn.Module, stage: Any, config: UpsConfig, world: World, progress: Progress) -> None:
    training = replace(config.training, compile=False)  # minutes, and not what is asked here
    strategy = progress.run(f"{name}: wrap", lambda: strategy_of(module, training, world))
    optimizer = make_optimizer(module, getattr(config.stages, name))
    batch = synthetic_batch(name, stage, config, world)
    loss = progress.run(f"{name}: forward", lambda: strategy.forward(batch).float().mean())
    progress.run(f"{name}: backward", loss.backward)
    progress.run(f"{name}: optimizer", optimizer.step)


def synthetic_material(config: UpsConfig) -> Any:
    """Returns material of the configured shape over a file that is not read; of several problems, by name."""
    if config.data.tasks:
        return {task: synthetic_material(one) for task, one in problems(config).items()}
    spec = spec_of(config)
    numbers = np.arange(max(3, spec.samples))
    splits = Splits(test=numbers[:1], validation=numbers[1:2], train=numbers[2:])
    return Material(spec=spec, reader=FieldReader(spec), splits=splits, normalisation=unnormalised(spec))


def spec_of(config: UpsConfig) -> FieldSpec:
    """Returns the spec of the data file, or, where it cannot be opened, of what `generate` would make."""
    try:
        return open_data(config.data)
    except UpsError:  # stage data says what is wrong with the file
        from ups.data.pde.equations import equation

        extent, known = generated_extent(config.data), equation(config.data.task)
        return FieldSpec(
            path=data_path(config.data),
            task=config.data.task,
            kind=known.KIND,
            samples=extent.samples,
            frames=extent.frames,
            grid=extent.grid,
            coordinates=tuple((np.arange(cells) + 0.5) / cells for cells in extent.grid),
            times=np.linspace(0.0, config.data.generate.end_time, extent.frames),
            periodic=known.PERIODIC,
            parameters={known.PARAMETER: config.data.parameter},
        )


def synthetic_batch(name: str, stage: Any, config: UpsConfig, world: World) -> Batch:
    """Returns one rank's share of a global batch, standard normal numbers."""
    if config.data.tasks:  # of the first problem: batches of others differ in shape alone
        first, part = next(iter(stage.stages.values())), next(iter(problems(config).values()))
        batch = synthetic_batch(name, first, part, world)
        return {**batch, "task": torch.zeros(len(next(iter(batch.values()))), dtype=torch.int64, device=world.device)}
    spec, settings = stage.material.spec, getattr(config.stages, name)
    count = max(1, settings.batch_size // world.size // settings.accumulate)
    if isinstance(config.training.micro_batch, int):
        count = min(count, config.training.micro_batch)
    shape = (count, *spec.grid, spec.channels)
    if name == "autoencoder":
        field_B = torch.arange(count) % len(spec.fields)
        return {"u": torch.randn(shape, device=world.device), "field": field_B.to(world.device)}
    if name == "steady":
        a, u = (torch.randn(shape, device=world.device) for _ in range(2))
        return {"u_in": a, "u_out": u}
    tokens = stage.encoder.autoencoder.tokens
    latent = (count, tokens, config.latent.dim)
    z_in, z_out = (torch.randn(latent, device=world.device) for _ in range(2))
    return {"z_in": z_in, "z_out": z_out, "cond": torch.zeros(count, 3, device=world.device)}


def _count(name: str, module: nn.Module, progress: Progress) -> None:
    seconds = progress.phases[-1]["seconds"]
    for path, part in [*module.named_modules()][:LISTED_MODULES]:
        size = sum(value.numel() * value.element_size() for value in part.parameters())
        row = {"path": ".".join(filter(None, (name, path))), "class": type(part).__qualname__, "bytes": size}
        progress.modules.append({**row, "seconds": seconds if not path else 0.0})
    progress.parameters += sum(value.numel() for value in module.parameters())
    progress.bytes += sum(value.numel() * value.element_size() for value in module.parameters())
    progress.write()
