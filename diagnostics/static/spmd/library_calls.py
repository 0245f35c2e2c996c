"""What calls of libraries do between ranks: one row a function, with the place in the library that shows it. Pure.

`always`: every rank has to come; else it depends on `when`, which a word of the project may settle. QUIET names what
rules know by the form of a call: what may look like a fault and is none. To add one: a row, and what runs here in two
ranks in tests/static/library_calls_in_ranks.py.
"""

from __future__ import annotations

from dataclasses import dataclass

from diagnostics.static.spmd.library_objects import LibraryType

TORCH, ACCELERATE, LIGHTNING = "torch 2.13", "accelerate 1.15", "lightning 2.7"
TRANSFORMERS, DEEPSPEED, METRICS = "transformers 4.57.1", "deepspeed 0.19.8", "torchmetrics 1.9.0"
IGNITE, HOROVOD = "ignite 0.5.5", "horovod 0.28.1"


# Lightning before 2.0, whose save_checkpoint() met nobody until 1.6.
OLD_NAMES = frozenset(["pytorch_lightning"])


@dataclass(frozen=True, slots=True)
class LibraryCall:
    """One row: the library as it was read, and the file and name that show what the call does."""

    library: str
    shown: str
    always: bool = True
    when: str = ""
    words: frozenset[str] = frozenset()  # a project that holds one of them fulfils `when`
    met_since: tuple[int, ...] = ()  # the first version in which ranks meet in it
    since: str = ""  # the name by which a version that does it is imported: under OLD_NAMES some do and some do not


_DCP, _ACCELERATE = "torch.distributed.checkpoint", "accelerate.utils"
_STATE_DICT = "torch/distributed/checkpoint/state_dict.py"
_FSDP = "torch/distributed/fsdp/fully_sharded_data_parallel.py"
_OPERATIONS, _IGNITE, _HOROVOD = "accelerate/utils/operations.py", "ignite/distributed/utils.py", "horovod/torch"
_SHARDED = "the model is sharded: full tensors are gathered"

FUNCTIONS: dict[str, LibraryCall] = {
    f"{_DCP}.save": LibraryCall(TORCH, "torch/distributed/checkpoint/state_dict_saver.py:save"),
    f"{_DCP}.async_save": LibraryCall(TORCH, "torch/distributed/checkpoint/state_dict_saver.py:async_save"),
    f"{_DCP}.save_state_dict": LibraryCall(TORCH, "torch/distributed/checkpoint/state_dict_saver.py:save_state_dict"),
    f"{_DCP}.load": LibraryCall(TORCH, "torch/distributed/checkpoint/state_dict_loader.py:load"),
    f"{_DCP}.load_state_dict": LibraryCall(TORCH, "torch/distributed/checkpoint/state_dict_loader.py:load_state_dict"),
    f"{_DCP}.state_dict.get_model_state_dict": LibraryCall(
        TORCH, f"{_STATE_DICT}:get_model_state_dict", always=False, when=_SHARDED
    ),
    f"{_DCP}.state_dict.get_optimizer_state_dict": LibraryCall(
        TORCH, f"{_STATE_DICT}:get_optimizer_state_dict", always=False, when=_SHARDED
    ),
    f"{_DCP}.state_dict.get_state_dict": LibraryCall(
        TORCH, f"{_STATE_DICT}:get_state_dict", always=False, when=_SHARDED
    ),
    **{
        f"{_DCP}.state_dict.{name}": LibraryCall(
            TORCH,
            f"{_STATE_DICT}:{name}",
            always=False,
            when="broadcast_from_rank0: rank 0 alone has the values, and hands them out",
            words=frozenset(["broadcast_from_rank0"]),
        )
        for name in ("set_model_state_dict", "set_optimizer_state_dict", "set_state_dict")
    },
    "torch.distributed.fsdp.FullyShardedDataParallel.optim_state_dict": LibraryCall(TORCH, f"{_FSDP}:optim_state_dict"),
    "torch.distributed.fsdp.FullyShardedDataParallel.full_optim_state_dict": LibraryCall(
        TORCH, f"{_FSDP}:full_optim_state_dict"
    ),
    "torch.distributed.fsdp.FullyShardedDataParallel.summon_full_params": LibraryCall(
        TORCH, f"{_FSDP}:summon_full_params"
    ),
    "torch.distributed.device_mesh.init_device_mesh": LibraryCall(
        TORCH,
        "torch/distributed/device_mesh.py:init_device_mesh",
        always=False,
        when="the mesh has several dimensions, and groups are made: of one it takes the default group",
    ),
    "torch.distributed.tensor.distribute_tensor": LibraryCall(
        TORCH, "torch/distributed/tensor/_api.py:distribute_tensor", always=False, when="the mesh spans all ranks"
    ),
    "deepspeed.zero.GatheredParameters": LibraryCall(
        DEEPSPEED, "deepspeed/runtime/zero/partition_parameters.py:__enter__", always=False, when="ZeRO 3"
    ),
    f"{_ACCELERATE}.wait_for_everyone": LibraryCall(ACCELERATE, "accelerate/utils/other.py:wait_for_everyone"),
    f"{_ACCELERATE}.gather": LibraryCall(ACCELERATE, f"{_OPERATIONS}:gather"),
    f"{_ACCELERATE}.gather_object": LibraryCall(ACCELERATE, f"{_OPERATIONS}:gather_object"),
    f"{_ACCELERATE}.reduce": LibraryCall(ACCELERATE, f"{_OPERATIONS}:reduce"),
    f"{_ACCELERATE}.broadcast": LibraryCall(ACCELERATE, f"{_OPERATIONS}:broadcast"),
    f"{_ACCELERATE}.broadcast_object_list": LibraryCall(ACCELERATE, f"{_OPERATIONS}:broadcast_object_list"),
    "ignite.distributed.barrier": LibraryCall(IGNITE, f"{_IGNITE}:barrier"),
    "ignite.distributed.all_reduce": LibraryCall(IGNITE, f"{_IGNITE}:all_reduce"),
    "ignite.distributed.all_gather": LibraryCall(IGNITE, f"{_IGNITE}:all_gather"),
    "ignite.distributed.broadcast": LibraryCall(IGNITE, f"{_IGNITE}:broadcast"),
    "horovod.torch.allreduce": LibraryCall(HOROVOD, f"{_HOROVOD}/mpi_ops.py:allreduce"),
    "horovod.torch.allgather": LibraryCall(HOROVOD, f"{_HOROVOD}/mpi_ops.py:allgather"),
    "horovod.torch.broadcast": LibraryCall(HOROVOD, f"{_HOROVOD}/mpi_ops.py:broadcast"),
    "horovod.torch.barrier": LibraryCall(HOROVOD, f"{_HOROVOD}/mpi_ops.py:barrier"),
    "horovod.torch.broadcast_parameters": LibraryCall(HOROVOD, f"{_HOROVOD}/functions.py:broadcast_parameters"),
    "horovod.torch.broadcast_optimizer_state": LibraryCall(
        HOROVOD, f"{_HOROVOD}/functions.py:broadcast_optimizer_state"
    ),
}

_ACCELERATOR, _FABRIC = "accelerate/accelerator.py", "lightning/fabric/fabric.py"
_TRAINER, _DDP_STRATEGY = "lightning/pytorch/trainer/trainer.py", "lightning/pytorch/strategies/ddp.py"
_PARALLEL = "lightning/pytorch/strategies/parallel.py"
_HF, _ENGINE = "transformers/trainer.py", "deepspeed/runtime/engine.py"
_ZERO = "torch/distributed/optim/zero_redundancy_optimizer.py"
_BY_STRATEGY = "the strategy shards the model"

METHODS: dict[tuple[LibraryType, str], LibraryCall] = {
    (LibraryType.ACCELERATOR, "wait_for_everyone"): LibraryCall(ACCELERATE, f"{_ACCELERATOR}:wait_for_everyone"),
    (LibraryType.ACCELERATOR, "gather"): LibraryCall(ACCELERATE, f"{_ACCELERATOR}:gather"),
    (LibraryType.ACCELERATOR, "gather_for_metrics"): LibraryCall(ACCELERATE, f"{_ACCELERATOR}:gather_for_metrics"),
    (LibraryType.ACCELERATOR, "reduce"): LibraryCall(ACCELERATE, f"{_ACCELERATOR}:reduce"),
    (LibraryType.ACCELERATOR, "pad_across_processes"): LibraryCall(ACCELERATE, f"{_ACCELERATOR}:pad_across_processes"),
    (LibraryType.ACCELERATOR, "check_trigger"): LibraryCall(ACCELERATE, f"{_ACCELERATOR}:check_trigger"),
    (LibraryType.ACCELERATOR, "main_process_first"): LibraryCall(ACCELERATE, f"{_ACCELERATOR}:main_process_first"),
    (LibraryType.ACCELERATOR, "local_main_process_first"): LibraryCall(
        ACCELERATE, f"{_ACCELERATOR}:local_main_process_first"
    ),
    (LibraryType.ACCELERATOR, "save_state"): LibraryCall(
        ACCELERATE,
        f"{_ACCELERATOR}:save_state",
        always=False,
        when="FSDP, DeepSpeed, or checkpoints are named by the library",
        words=frozenset(["automatic_checkpoint_naming", "DeepSpeedPlugin", "FullyShardedDataParallelPlugin"]),
    ),
    (LibraryType.ACCELERATOR, "get_state_dict"): LibraryCall(
        ACCELERATE, f"{_ACCELERATOR}:get_state_dict", always=False, when="FSDP or DeepSpeed ZeRO 3"
    ),
    (LibraryType.FABRIC, "barrier"): LibraryCall(LIGHTNING, f"{_FABRIC}:barrier"),
    (LibraryType.FABRIC, "all_reduce"): LibraryCall(LIGHTNING, f"{_FABRIC}:all_reduce"),
    (LibraryType.FABRIC, "all_gather"): LibraryCall(LIGHTNING, f"{_FABRIC}:all_gather"),
    (LibraryType.FABRIC, "broadcast"): LibraryCall(LIGHTNING, f"{_FABRIC}:broadcast"),
    (LibraryType.FABRIC, "save"): LibraryCall(LIGHTNING, f"{_FABRIC}:save", always=False, when=_BY_STRATEGY),
    (LibraryType.LIGHTNING_TRAINER, "save_checkpoint"): LibraryCall(
        LIGHTNING, f"{_TRAINER}:save_checkpoint", since="lightning", met_since=(2, 1)
    ),
    (LibraryType.LIGHTNING_TRAINER, "validate"): LibraryCall(LIGHTNING, f"{_TRAINER}:validate"),
    (LibraryType.LIGHTNING_TRAINER, "test"): LibraryCall(LIGHTNING, f"{_TRAINER}:test"),
    (LibraryType.LIGHTNING_TRAINER, "fit"): LibraryCall(LIGHTNING, f"{_TRAINER}:fit"),
    (LibraryType.LIGHTNING_TRAINER, "predict"): LibraryCall(LIGHTNING, f"{_TRAINER}:predict"),
    (LibraryType.LIGHTNING_STRATEGY, "barrier"): LibraryCall(LIGHTNING, f"{_DDP_STRATEGY}:barrier"),
    (LibraryType.LIGHTNING_STRATEGY, "broadcast"): LibraryCall(LIGHTNING, f"{_DDP_STRATEGY}:broadcast"),
    (LibraryType.LIGHTNING_STRATEGY, "reduce"): LibraryCall(LIGHTNING, f"{_DDP_STRATEGY}:reduce"),
    (LibraryType.LIGHTNING_STRATEGY, "all_gather"): LibraryCall(LIGHTNING, f"{_PARALLEL}:all_gather"),
    (LibraryType.LIGHTNING_STRATEGY, "reduce_boolean_decision"): LibraryCall(
        LIGHTNING, f"{_PARALLEL}:reduce_boolean_decision"
    ),
    (LibraryType.LIGHTNING_MODULE, "all_gather"): LibraryCall(LIGHTNING, "lightning/pytorch/core/module.py:all_gather"),
    (LibraryType.HF_TRAINER, "evaluate"): LibraryCall(TRANSFORMERS, f"{_HF}:evaluate"),
    (LibraryType.HF_TRAINER, "predict"): LibraryCall(TRANSFORMERS, f"{_HF}:predict"),
    (LibraryType.HF_TRAINER, "train"): LibraryCall(TRANSFORMERS, f"{_HF}:train"),
    (LibraryType.HF_TRAINER, "save_model"): LibraryCall(
        TRANSFORMERS, f"{_HF}:save_model", always=False, when="FSDP or DeepSpeed ZeRO 3"
    ),
    (LibraryType.DEEPSPEED, "save_checkpoint"): LibraryCall(DEEPSPEED, f"{_ENGINE}:save_checkpoint"),
    (LibraryType.DEEPSPEED, "load_checkpoint"): LibraryCall(DEEPSPEED, f"{_ENGINE}:load_checkpoint"),
    (LibraryType.DEEPSPEED, "backward"): LibraryCall(DEEPSPEED, f"{_ENGINE}:backward"),
    (LibraryType.DEEPSPEED, "step"): LibraryCall(DEEPSPEED, f"{_ENGINE}:step"),
    (LibraryType.DEEPSPEED, "allreduce_gradients"): LibraryCall(DEEPSPEED, f"{_ENGINE}:allreduce_gradients"),
    (LibraryType.DEEPSPEED, "save_16bit_model"): LibraryCall(
        DEEPSPEED, f"{_ENGINE}:save_16bit_model", always=False, when="ZeRO 3 gathers the parameters first"
    ),
    (LibraryType.DEEPSPEED, "train_batch"): LibraryCall(DEEPSPEED, "deepspeed/runtime/pipe/engine.py:train_batch"),
    (LibraryType.DEEPSPEED, "eval_batch"): LibraryCall(DEEPSPEED, "deepspeed/runtime/pipe/engine.py:eval_batch"),
    (LibraryType.DEEPSPEED, "__call__"): LibraryCall(DEEPSPEED, f"{_ENGINE}:forward", always=False, when="ZeRO 3"),
    (LibraryType.METRIC, "compute"): LibraryCall(METRICS, "torchmetrics/metric.py:_wrap_compute"),
    (LibraryType.FSDP, "state_dict"): LibraryCall(
        TORCH, "torch/distributed/fsdp/_state_dict_utils.py:_pre_state_dict_hook"
    ),
    (LibraryType.FSDP, "clip_grad_norm_"): LibraryCall(TORCH, f"{_FSDP}:clip_grad_norm_"),
    (LibraryType.FSDP, "__call__"): LibraryCall(TORCH, f"{_FSDP}:forward"),
    (LibraryType.FSDP, "load_state_dict"): LibraryCall(
        TORCH, "torch/distributed/fsdp/_state_dict_utils.py:_pre_load_state_dict_hook", always=False, when="full states"
    ),
    (LibraryType.DDP, "__call__"): LibraryCall(
        TORCH,
        "torch/nn/parallel/distributed.py:will_sync_module_buffers",
        always=False,
        when="the model has buffers, and the forward before it had gradients: without them it is once at most",
    ),
    (LibraryType.ZERO, "consolidate_state_dict"): LibraryCall(TORCH, f"{_ZERO}:consolidate_state_dict"),
    (LibraryType.ZERO, "step"): LibraryCall(TORCH, f"{_ZERO}:step"),
}

# Attributes by which a callback steers a trainer, and which each rank reads by itself: where the others have another
# value, they go on. By the object that holds them.
FLAGS: dict[tuple[str, str], LibraryCall] = {
    ("trainer", "should_stop"): LibraryCall(LIGHTNING, "lightning/pytorch/loops/fit_loop.py:done"),
    ("control", "should_training_stop"): LibraryCall(TRANSFORMERS, f"{_HF}:_inner_training_loop"),
    ("control", "should_epoch_stop"): LibraryCall(TRANSFORMERS, f"{_HF}:_inner_training_loop"),
    ("control", "should_evaluate"): LibraryCall(TRANSFORMERS, f"{_HF}:_maybe_log_save_evaluate"),
    ("control", "should_log"): LibraryCall(TRANSFORMERS, f"{_HF}:_maybe_log_save_evaluate"),
}

# Decorators that keep a function to one rank: by their full name, or the method of an object.
_UTILITIES = "lightning_utilities/core/rank_zero.py"
KEPT_TO_ONE: dict[str | tuple[LibraryType, str], LibraryCall] = {
    "lightning.pytorch.utilities.rank_zero.rank_zero_only": LibraryCall(LIGHTNING, f"{_UTILITIES}:rank_zero_only"),
    "lightning.fabric.utilities.rank_zero.rank_zero_only": LibraryCall(LIGHTNING, f"{_UTILITIES}:rank_zero_only"),
    "lightning_utilities.core.rank_zero.rank_zero_only": LibraryCall(LIGHTNING, f"{_UTILITIES}:rank_zero_only"),
    (LibraryType.ACCELERATOR, "on_main_process"): LibraryCall(ACCELERATE, f"{_ACCELERATOR}:on_main_process"),
    (LibraryType.ACCELERATOR, "on_local_main_process"): LibraryCall(
        ACCELERATE, f"{_ACCELERATOR}:on_local_main_process"
    ),
    (LibraryType.ACCELERATOR, "on_last_process"): LibraryCall(ACCELERATE, f"{_ACCELERATOR}:on_last_process"),
}

QUIET: dict[str, LibraryCall] = {
    "torchmetrics compute() of Metric(sync_on_compute=False)": LibraryCall(
        METRICS, "torchmetrics/metric.py:_wrap_compute", when="_to_sync is sync_on_compute"
    ),
    "accelerate prepare(model, optimizer): the optimizer gets the sharded parameters": LibraryCall(
        ACCELERATE, f"{_ACCELERATOR}:_prepare_fsdp2", when="fsdp2_switch_optimizer_parameters() maps old to new"
    ),
    "accelerate prepare(model, optimizer) with DeepSpeed: the engine owns the optimizer, nothing is FSDP": LibraryCall(
        ACCELERATE, f"{_ACCELERATOR}:_prepare_deepspeed"
    ),
    "accelerate accumulate(model): gradients are averaged in the last micro-batch, on every rank alike": LibraryCall(
        ACCELERATE, f"{_ACCELERATOR}:accumulate"
    ),
    "fabric no_backward_sync(module, enabled): a backward in it averages nothing where it is enabled": LibraryCall(
        LIGHTNING, f"{_FABRIC}:no_backward_sync"
    ),
    "fabric setup(model, optimizer): FSDP is refused or keeps the parameter objects": LibraryCall(
        LIGHTNING, "lightning/fabric/strategies/fsdp.py:setup_module_and_optimizers"
    ),
}
