"""Which settings of `training` fit each other, said before anything is started, written or imported."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator

from ups.config import TrainingConfig, UpsConfig
from ups.data.several.problems import misfits
from ups.errors import ConfigError

SHARDED = ("fsdp2", "hsdp")


def refuse_what_does_not_fit(config: UpsConfig, ranks: int, *, gpus: bool) -> None:
    """Raises ConfigError with the first combination that is not admitted on so many ranks, on GPUs or on CPUs."""
    for message, hint in _misfits(config, ranks, gpus):
        raise ConfigError(message, hint=hint)


def copies(training: TrainingConfig, ranks: int) -> tuple[int, int]:
    """Returns how many copies of the model there are, and over how many ranks each of them lies."""
    if training.strategy == "fsdp2":
        return 1, ranks
    if training.strategy == "hsdp":
        across = training.shard_ranks or int(os.environ.get("LOCAL_WORLD_SIZE") or ranks)
        return ranks // across, across
    return ranks, 1


def _misfits(config: UpsConfig, ranks: int, gpus: bool) -> Iterator[tuple[str, str]]:
    training = config.training
    yield from _of_strategy(training, ranks, gpus)
    yield from misfits(config)
    if training.strategy in SHARDED and ranks > 1 and config.objective.rollout:
        yield (
            f"objective.rollout calls the operator several times in a step, and {training.strategy} has its ranks"
            " exchange weights as often in every step",
            "training.strategy=ddp, or objective.rollout=0",
        )
    cut = [name for name in config.stages.run if getattr(config.stages, name).accumulate > 1]
    if training.micro_batch is not None and cut:
        yield (
            f"training.micro_batch and stages.{cut[0]}.accumulate both say how a batch is cut",
            "give one of them: micro_batch counts samples, accumulate counts pieces",
        )
    if training.compile and not gpus and not _compiler():
        yield "training.compile needs a C++ compiler, and there is none", "apt install g++, or training.compile=false"


def _of_strategy(training: TrainingConfig, ranks: int, gpus: bool) -> Iterator[tuple[str, str]]:
    name = training.strategy
    if name == "none" and ranks > 1:
        yield f"training.strategy=none trains on one rank, and there are {ranks}", "--nproc 1, or training.strategy=ddp"
    if name not in SHARDED:
        for key, given in (
            ("shard_ranks", training.shard_ranks is not None),
            ("reshard_after_forward=false", not training.reshard_after_forward),
            ("cpu_offload", training.cpu_offload),
        ):
            if given:
                yield f"training.{key} is for sharded models, and the strategy is {name}", "training.strategy=fsdp2"
        return
    if training.shard_ranks is not None and name == "fsdp2":
        yield "training.shard_ranks is for hsdp: fsdp2 shards over all ranks", "training.strategy=hsdp"
    if training.compile is True and ranks > 1:
        yield (
            f"training.compile=true with {name} would break the graph at every block, where ranks exchange weights",
            "training.compile=blocks compiles between the exchanges",
        )
    if training.cpu_offload and not gpus:
        yield (
            "training.cpu_offload moves weights off a GPU, and the ranks compute on CPUs",
            "training.cpu_offload=false",
        )
    if training.cpu_offload and ranks == 1:
        yield f"training.cpu_offload needs two ranks or more: one rank does not shard ({name})", "start more ranks"
    if name == "hsdp" and ranks > 1:
        _, across = copies(training, ranks)
        if ranks % across:
            yield f"training.shard_ranks {across} does not divide the {ranks} ranks", "choose a divisor of the ranks"
        elif across in (1, ranks):
            same = "ddp" if across == 1 else "fsdp2"
            yield (
                f"hsdp with {ranks} ranks and shards over {across} of them is what {same} does",
                f"training.strategy={same}, or another training.shard_ranks",
            )


def _compiler() -> bool:
    return any(shutil.which(name) for name in (os.environ.get("CXX", ""), "c++", "g++", "clang++") if name)
