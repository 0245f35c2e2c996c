"""Which calls a trace records, and which of them make a function worth following. Pure."""

from __future__ import annotations

import ast
import re

from diagnostics.analysis.flow_files import Function, last_name
from diagnostics.analysis.project import Project

INIT = frozenset(["torch.distributed.init_process_group", "torch.distributed.init_distributed",
                  "deepspeed.init_distributed"])  # fmt: skip
# These start the group themselves, or are told about it.
OTHER_INITS = frozenset(
    ["torch.distributed.init_device_mesh", "torch.distributed.device_mesh.init_device_mesh", "accelerate.Accelerator",
     "accelerate.PartialState", "accelerate.state.PartialState", "accelerate.state.AcceleratorState",
     "lightning.fabric.Fabric", "lightning.pytorch.Trainer", "transformers.Trainer", "transformers.TrainingArguments",
     "transformers.HfArgumentParser", "deepspeed.initialize", "horovod.torch.init", "smdistributed.dataparallel.torch.torch_smddp",
     "megatron.initialize.initialize_megatron", "colossalai.launch", "colossalai.launch_from_torch",
     "torch.distributed.rpc.init_rpc", "ignite.distributed.initialize", "ignite.distributed.Parallel",
     "mmengine.dist.init_dist", "mmcv.runner.init_dist"]  # fmt: skip
)
_STARTS = re.compile(r"(?:init|set_?up|launch|start|boot|prepare|enable|configure)\w*"
                     r"(?:dist|ddp|process_?group|parallel|multi_?gpu|slurm|world|environment|runtime|device|backend)"
                     r"|(?:dist|ddp|distributed|parallel)\w*_?(?:init|set_?up|launch|start)", re.IGNORECASE)  # fmt: skip
_CORE = frozenset(
    ["init_process_group", "init_distributed", "destroy_process_group", "is_initialized", "DistributedSampler",
     "DistributedDataParallel", "FullyShardedDataParallel", "fully_shard", "DDP", "FSDP", "set_device", "barrier"]  # fmt: skip
)
_SIDE = frozenset(
    ["get_rank", "get_world_size", "DataLoader", "all_reduce", "all_gather", "broadcast", "reduce", "gather", "scatter",
     "all_gather_object", "broadcast_object_list", "new_group", "compile", "monitored_barrier", "all_to_all",
     "all_gather_into_tensor", "reduce_scatter", "init_device_mesh", "Accelerator", "PartialState", "Fabric",
     "to", "cuda", "manual_seed", "seed_everything", "set_seed", "wait_for_everyone",
     "SGD", "Adam", "AdamW", "RMSprop", "Adagrad", "Adadelta", "Adamax", "NAdam", "RAdam", "LBFGS"]  # fmt: skip
)
_COLLECTIVES = frozenset(
    ["all_reduce", "all_gather", "broadcast", "reduce", "gather", "scatter", "barrier", "all_gather_object",
     "broadcast_object_list", "monitored_barrier", "all_to_all", "all_gather_into_tensor", "reduce_scatter",
     "reduce_scatter_tensor", "new_group", "all_to_all_single", "gather_object", "scatter_object_list", "send", "recv",
     "isend", "irecv"]  # fmt: skip
)
OPTIMIZERS = frozenset(["SGD", "Adam", "AdamW", "RMSprop", "Adagrad", "Adadelta", "Adamax", "NAdam", "RAdam", "LBFGS"])
_HOMES = ("torch.", "accelerate.", "lightning.", "deepspeed.", "horovod.", "transformers.")


def event_name(call: ast.Call, function: Function, project: Project) -> str:
    """Returns the full name of what a call calls, ".to" for a method of something unknown."""
    name = project.name(call.func, function)
    if name:
        return name
    return f".{call.func.attr}" if isinstance(call.func, ast.Attribute) else ""


def is_core(call: ast.Call, function: Function, project: Project) -> bool:
    """Whether a call makes the functions around it worth following."""
    return last_name(call.func) in _CORE and event_name(call, function, project).startswith(_HOMES)


def is_recorded(name: str) -> bool:
    """Whether a trace holds calls of this name."""
    last = name.rpartition(".")[2]
    if name in INIT or name in OTHER_INITS or name.startswith("torch.distributed."):
        return True
    return last in _SIDE or last in _CORE or starts_group(name)


def starts_group(name: str) -> bool:
    """Whether a call may start the default group: by a name known for it, or by what it is called."""
    return name in INIT or name in OTHER_INITS or _STARTS.search(name.rpartition(".")[2]) is not None


def is_collective(name: str) -> bool:
    """Whether a call is one that all ranks of a group make."""
    home, _, last = name.rpartition(".")
    return home == "torch.distributed" and last in _COLLECTIVES


def is_optimizer(name: str) -> bool:
    """Whether a call makes one of torch's optimizers."""
    home, _, last = name.rpartition(".")
    return last in OPTIMIZERS and home.startswith("torch.optim")


CORE_WORDS = _CORE
