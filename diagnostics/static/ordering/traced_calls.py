"""Which calls a trace records, and which of them make a function worth following. Pure."""

from __future__ import annotations

import ast
import re
from functools import lru_cache

from diagnostics.agent.shared import operations
from diagnostics.static.program.functions import Function, last_name
from diagnostics.static.program.project import Project

INIT = frozenset(
    ["torch.distributed.init_process_group", "torch.distributed.init_distributed", "deepspeed.init_distributed"]
)
# These start the group themselves, or are told about it.
OTHER_INITS = frozenset(
    [
        "torch.distributed.init_device_mesh",
        "torch.distributed.device_mesh.init_device_mesh",
        "accelerate.Accelerator",
        "accelerate.PartialState",
        "accelerate.state.PartialState",
        "accelerate.state.AcceleratorState",
        "lightning.fabric.Fabric",
        "lightning.pytorch.Trainer",
        "transformers.Trainer",
        "transformers.TrainingArguments",
        "transformers.HfArgumentParser",
        "deepspeed.initialize",
        "horovod.torch.init",
        "megatron.initialize.initialize_megatron",
        "colossalai.launch",
        "colossalai.launch_from_torch",
        "torch.distributed.rpc.init_rpc",
        "ignite.distributed.initialize",
        "ignite.distributed.Parallel",
        "mmengine.dist.init_dist",
        "mmcv.runner.init_dist",
    ]
)
# Those of them that make the group themselves, where there is none yet.
MAKE_GROUP = INIT | frozenset(
    [
        "accelerate.Accelerator",
        "accelerate.PartialState",
        "accelerate.state.PartialState",
        "deepspeed.initialize",
        "colossalai.launch",
        "colossalai.launch_from_torch",
    ]
)
_STARTS = re.compile(
    r"(?:init|set_?up|launch|start|boot|prepare|enable|configure)\w{0,60}"
    r"(?:dist|ddp|process_?group|parallel|multi_?gpu|slurm|world|environment|runtime|device|backend)"
    r"|(?:dist|ddp|distributed|parallel)\w{0,60}_?(?:init|set_?up|launch|start)",
    re.IGNORECASE,
)
CORE_WORDS = frozenset(
    [
        "init_process_group",
        "init_distributed",
        "destroy_process_group",
        "is_initialized",
        "DistributedSampler",
        "DistributedDataParallel",
        "FullyShardedDataParallel",
        "fully_shard",
        "DDP",
        "FSDP",
        "set_device",
        "barrier",
    ]
)
OPTIMIZERS = frozenset(["SGD", "Adam", "AdamW", "RMSprop", "Adagrad", "Adadelta", "Adamax", "NAdam", "RAdam", "LBFGS"])
_COLLECTIVES = frozenset(operations.MEETINGS)
_SEEDS = frozenset(["manual_seed", "manual_seed_all", "seed_everything", "set_seed"])
_SIDE = (
    OPTIMIZERS
    | _COLLECTIVES
    | _SEEDS
    | frozenset(
        [
            "get_rank",
            "get_world_size",
            "DataLoader",
            "compile",
            "init_device_mesh",
            "Accelerator",
            "PartialState",
            "Fabric",
            "to",
            "cuda",
            "wait_for_everyone",
        ]
    )
)
_SAMPLER = re.compile(r"Dist\w{0,60}Sampler$")
_NAMES = 20_000  # that are kept: a trace asks about the few names of a project again and again
_HOMES = ("torch.", "accelerate.", "lightning.", "deepspeed.", "horovod.", "transformers.")


def event_name(call: ast.Call, function: Function, project: Project) -> str:
    """Returns the full name of what a call calls, ".to" for a method of something unknown."""
    name = project.name(call.func, function)
    if name:
        return name
    return f".{call.func.attr}" if isinstance(call.func, ast.Attribute) else ""


def is_core(call: ast.Call, function: Function, project: Project) -> bool:
    """Whether a call makes the functions around it worth following."""
    return last_name(call.func) in CORE_WORDS and event_name(call, function, project).startswith(_HOMES)


@lru_cache(_NAMES)
def is_recorded(name: str) -> bool:
    """Whether a trace holds calls of this name."""
    last = name.rpartition(".")[2]
    if name in OTHER_INITS or name.startswith("torch.distributed.") or last in _SIDE or last in CORE_WORDS:
        return True
    return is_sampler(name) or starts_group(name)


@lru_cache(_NAMES)
def starts_group(name: str) -> bool:
    """Whether a call may start the default group: by a name known for it, or by what it is called."""
    return name in INIT or name in OTHER_INITS or _STARTS.search(name.rpartition(".")[2]) is not None


@lru_cache(_NAMES)
def is_sampler(name: str) -> bool:
    """Whether a call makes a sampler that deals out data over ranks."""
    return _SAMPLER.search(name) is not None


def is_seed(name: str) -> bool:
    """Whether a call seeds a generator."""
    return name.rpartition(".")[2] in _SEEDS


def is_collective(name: str) -> bool:
    """Whether a call is one that all ranks of a group make."""
    home, _, last = name.rpartition(".")
    return home == "torch.distributed" and last in _COLLECTIVES


def is_optimizer(name: str) -> bool:
    """Whether a call makes one of torch's optimizers."""
    home, _, last = name.rpartition(".")
    return last in OPTIMIZERS and home.startswith("torch.optim")
