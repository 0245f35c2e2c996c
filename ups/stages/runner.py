"""Everything one rank does in a run: data, stage after stage, the cache between them, in one process group."""

from __future__ import annotations

import math
import resource
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any

import torch

from ups import checkpoint
from ups.cache_build import ensure_cache, expected_manifest, refuse_bad_cache
from ups.checkpointing.newest import newest
from ups.checkpointing.state import Found
from ups.config import UpsConfig
from ups.data import ram_disk
from ups.data.fields import data_file
from ups.data.ram_disk import RamCopy
from ups.data.several.problems import problems
from ups.distributed import World, from_first, on_all_ranks
from ups.errors import AgreedError, UpsError
from ups.models.fit import try_own_operator
from ups.progress import Display
from ups.run_folder import RunFolder
from ups.stages import ORDER
from ups.stages.frozen import Trained
from ups.stages.material import Material, gather
from ups.stages.registry import make_stage, trained_autoencoder, trained_before
from ups.stages.units import agreed_units
from ups.strategies.admitted import refuse_what_does_not_fit
from ups.tracking.jsonl import JsonLines
from ups.train import Surroundings, train

Weights = dict[str, torch.Tensor]
CACHED = ("operator", "diffusion", "consistency")  # stages that read latents


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What is to be run, beside the configuration."""

    stages: tuple[str, ...] = ORDER[:2]
    resume: bool = False


def run(config: UpsConfig, world: World, plan: Plan, display: Display) -> dict[str, Any]:
    """Runs the plan's stages on this rank; returns what the rank reports: stages, steps, seconds, memory."""
    refuse_what_does_not_fit(config, world.size, gpus=world.device.type == "cuda")
    folder = RunFolder(config.output.dir)
    resume = from_first(plan.resume, world)  # after torchrun's restart only the first rank knows
    last = newest(folder, world, display.say) if resume else None
    parts = problems(config)
    materials = {
        task: gather(one, partial(agreed_units, RunFolder(one.output.dir), data_file(one.data), world))
        for task, one in parts.items()
    }
    if "operator" in plan.stages:
        try_own_operator(config, next(iter(materials.values())).spec)
    left = _left_to_do(plan.stages, last)
    whole = left[:2] == list(ORDER[:2])
    if config.cache.enabled and whole:  # before hours of training; a later stage alone looks at once
        for task, one in parts.items():
            refuse_bad_cache(one, expected_manifest(one, materials[task]), world)
    records = (_records(config, folder, last, resume),) if world.is_first else ()
    described = {task: (one.spec, one.normalisation) for task, one in materials.items()}
    header = checkpoint.header_of_several(config, described)
    around = Surroundings(folder, records, display, header)
    if last is not None:
        around.saved.last_good = str(last.path)
    if world.device.type == "cuda":
        display.memory = lambda: int(torch.cuda.memory_allocated(world.device))
    timings: dict[str, dict[str, float]] = {}
    copies: dict[str, RamCopy] = {}
    try:
        for name in left:
            trained = {task: trained_before(name, folder, task) for task in parts}
            if name in CACHED and config.cache.enabled and not copies:
                for task, one in parts.items():
                    copies[task] = _cache(one, world, materials[task], trained_autoencoder(folder, task), display)
            if name == ORDER[0] and config.latent.exact:
                display.say(f"{name}: latent.exact keeps every cell as it is: nothing to train, its error is 0")
            stage = _stage(name, config, world, materials, trained, copies)
            found = last if last is not None and last.stage == name else None
            timings[name] = asdict(train(stage, config, world, around, found))
    finally:
        for record in records:
            record.close()
        for copy in copies.values():
            copy.close()
    saved = asdict(around.saved)
    return {
        "stages": timings,
        "checkpoints": saved,
        "peak_memory_bytes": _peak_memory(world),
        "device": str(world.device),
    }


def _cache(config: UpsConfig, world: World, material: Material, state: Weights, display: Display) -> RamCopy:
    """Returns where the latents are read from; built where they are not there, copied where a RAM disk is asked for."""
    done = ensure_cache(config, material, state, world)
    display.say(f"latent cache {done} in {config.cache_dir}")
    return _ram_copy(config, world, spare_bytes=ram_disk.SPARE_BYTES + loader_bytes(config, material))


def _ram_copy(config: UpsConfig, world: World, spare_bytes: int) -> RamCopy:
    """Returns the copy that the ranks of this machine share; where one machine refuses, all ranks raise it."""
    aloud = Display(shown=True)  # of the ranks on one machine, any may be the one that copies
    copy, refused = RamCopy(config.cache_dir), None
    try:
        copy = ram_disk.attach(config.cache_dir, config.cache.ram_disk, aloud.say, spare_bytes=spare_bytes)
    except UpsError as error:
        refused = (error.message, error.hint)
    for one in on_all_ranks(refused, world):
        if one is not None:
            copy.close()
            raise AgreedError(one[0], hint=one[1])
    if world.local_rank == 0:
        copy.outlived()
    if copy.note and world.local_rank == 0:
        aloud.say(copy.note)
    return copy


def loader_bytes(config: UpsConfig, material: Material) -> int:
    """Returns at most what the loaders of all ranks keep in /dev/shm: batches that are ready, made and being used."""
    spec, stage, training = material.spec, config.stages.operator, config.training
    cells = math.prod(spec.grid)
    numbers = 2 * math.prod(-(-axis // config.latent.patch) for axis in spec.grid) * config.latent.dim + cells
    return 2 * stage.batch_size * numbers * 4 * training.workers * (training.prefetch + 1)  # training and validation


def _stage(
    name: str,
    config: UpsConfig,
    world: World,
    materials: Mapping[str, Material],
    trained: Mapping[str, Trained],
    copies: Mapping[str, RamCopy],
) -> Any:
    if config.data.tasks:
        folders = {task: copy.folder for task, copy in copies.items()}
        return make_stage(name, config, world.device, materials, trained, cached=bool(copies), folders=folders)
    if copies:
        config = replace(config, cache=replace(config.cache, dir=copies[""].folder))
    return make_stage(name, config, world.device, materials[""], trained[""], cached=bool(copies))


def _left_to_do(stages: Sequence[str], last: Found | None) -> list[str]:
    done = ORDER.index(last.stage) if last is not None else 0
    return [name for name in stages if ORDER.index(name) >= done]


def _records(config: UpsConfig, folder: RunFolder, last: Found | None, resume: bool) -> JsonLines:
    # Of a run that died before its first checkpoint nothing is gone on with.
    size = last.facts["metrics_bytes"] if last is not None else 0 if resume else _metrics_bytes(folder)
    patient = config.training.checkpoint.on_failure == "continue"
    return JsonLines(folder.metrics, resume_at=size, patient=patient)


def _metrics_bytes(folder: RunFolder) -> int:
    """Returns the bytes of metrics that are there: a second stage adds to those of the first."""
    return folder.metrics.stat().st_size if folder.metrics.exists() else 0


def _peak_memory(world: World) -> int:
    if world.device.type == "cuda":
        return int(torch.cuda.max_memory_allocated(world.device))
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
