"""What is wrong with each planted model: the one place that knows, read by the benchmark and by nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

NATIVE, HANG, EXCEPTION, NUMBERS = "signal", "hang", "exception", "numbers"
MIXTURE, UNET = "blocks.{}.mixture.{}", "ups.{}.gate"


@dataclass(frozen=True, slots=True, kw_only=True)
class Planted:
    """One planted model. `modules` holds more than one path where only their combination fails, none where the fault
    lies outside; `also` are single ones that are as right. `needed` are the settings without which it passes; None:
    not judged. `asked` are options of the command without which the failing case is not met."""

    name: str
    modules: tuple[str, ...]
    also: tuple[str, ...] = ()
    kind: str | None  # None: it does not fail
    detail: str = ""
    needed: Mapping[str, Any] | None = field(default_factory=dict)
    asked: tuple[str, ...] = ()
    config: bool = False  # of the trainer, instead of a factory

    @property
    def outside(self) -> bool:
        """Whether no module is to blame."""
        return not self.modules


def _native(name: str, module: str, detail: str = "SIGSEGV", **more: Any) -> Planted:
    return Planted(name=name, modules=(module,), kind=NATIVE, detail=detail, **more)


PLANTED = (
    _native("lm_null_forward", "blocks.7.attn.rope"),
    _native("lm_null_init", "blocks.5.mlp.gate"),
    Planted(
        name="lm_unused_parameter",
        modules=("blocks.4.mlp",),
        kind=EXCEPTION,
        detail="RuntimeError",
        needed={"wrapper": "ddp"},
    ),
    _native("lm_rank_null", "blocks.9.attn", needed={"world": 2}),
    _native("lm_ddp_bf16", "blocks.3.norm2", needed={"wrapper": "ddp", "amp": "bfloat16"}),
    Planted(name="lm_nan", modules=("blocks.9.mlp.act",), kind=NUMBERS),
    _native("lm_abort_backward", "blocks.10.attn.out", "SIGABRT"),
    _native("lm_threads", "blocks.2.attn.rope", needed={"threads": 2}, asked=("--threads", "2")),
    _native("unet_null_backward", UNET.format(1)),
    _native("unet_abort_init", "mid.1", "SIGABRT"),
    Planted(
        name="unet_inplace_ddp",
        modules=(UNET.format(0),),
        kind=EXCEPTION,
        detail="RuntimeError",
        needed={"wrapper": "ddp"},
    ),
    Planted(name="unet_pair_inplace", modules=("downs.0.act", "downs.1.scale"), kind=EXCEPTION, detail="RuntimeError"),
    Planted(
        name="unet_checkpointing",
        modules=(UNET.format(2),),
        kind=EXCEPTION,
        detail="CheckpointError",
        needed={"checkpointing": True},
        asked=("--checkpointing",),
    ),
    Planted(name="unet_nan_backward", modules=("mid.1.norm",), kind=NUMBERS),
    _native("resnet_abort_forward", "stages.2.4.squeeze", "SIGABRT"),
    _native("resnet_extension_backward", "stages.1.2.conv2"),
    _native("resnet_ddp_null", "stages.0.1.norm1", needed={"wrapper": "ddp"}),
    Planted(
        name="resnet_rank_exception",
        modules=("stages.3.0.shortcut",),
        kind=EXCEPTION,
        detail="RuntimeError",
        needed={"world": 2},
    ),
    Planted(
        name="resnet_fp16",
        modules=("stages.1.1.shortcut",),
        kind=NUMBERS,
        needed={"amp": "float16"},
        asked=("--amp", "float16"),
    ),
    _native("moe_extension_forward", MIXTURE.format(2, "experts.3")),
    Planted(name="moe_hang", modules=(MIXTURE.format(1, "router"),), kind=HANG, needed={"world": 2}),
    _native("moe_accumulate_abort", "blocks.3.norm", "SIGABRT", needed={"wrapper": "ddp", "accumulate": 2}),
    Planted(
        name="moe_pair_native",
        modules=(MIXTURE.format(0, "router"), MIXTURE.format(2, "router")),
        kind=NATIVE,
        detail="SIGSEGV",
    ),
    Planted(name="moe_ranks_disagree", modules=("blocks.1.norm",), kind=NUMBERS, needed={"world": 2, "wrapper": "ddp"}),
    Planted(name="moe_first_batch", modules=("blocks.1.norm",), kind=NUMBERS, needed={"world": 2, "wrapper": "ddp"}),
    _native("tied_second_call", "layers.0.mix"),
    _native("tied_head_null", "head"),
    _native("translator_fourth_call", "writer.cell"),
    Planted(name="mixer_shapes", modules=("layers.3.token",), also=("layers.3.token.mix",), kind=EXCEPTION),
    Planted(
        name="mixer_fsdp2",
        modules=("layers.1.channel",),
        kind=EXCEPTION,
        detail="KeyError",
        needed={"wrapper": "fsdp2"},
        asked=("--wrapper", "fsdp2"),
    ),
    Planted(
        name="mixer_compile",
        modules=("layers.0.channel",),
        kind=EXCEPTION,
        needed={"compile": True},
        asked=("--compile",),
    ),
    _native("pdet_null_forward", "down.1.0.attention"),
    _native("pdet_config", "operator.up.0.0.mlp.2", "SIGABRT", config=True),
    _native("real_grid_sample", "stages.1.2.shortcut"),
    _native("real_ctc_loss", "align"),
    _native("real_segment_reduce", "blocks.2.norm"),
    _native("real_embedding_bag", "towers.4.bag"),
    Planted(name="outside_worker", modules=(), kind=NATIVE, needed=None),
    Planted(name="outside_collective", modules=(), kind=HANG, needed=None),
    Planted(name="outside_batches", modules=(), kind=EXCEPTION, needed=None),
    Planted(name="outside_loss", modules=(), kind=EXCEPTION),
    Planted(name="outside_none", modules=(), kind=None, needed=None),
)


def module_of(name: str) -> str:
    """Returns the module of one planted model: "planted.cases.lm.lm_nan"."""
    (path,) = (Path(__file__).parent / "cases").glob(f"*/{name}.py")
    return f"planted.cases.{path.parent.name}.{name}"
