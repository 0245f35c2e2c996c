"""The trainer's configuration: one frozen dataclass a section, strict about names and types.

Read with `load_config(path, overrides)`. A file in configs/train/ holds only what differs from the
defaults here; `include:` builds on another file. Numbers carry their units.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

from diagnostics.api import Located, Range, build, load
from ups.data.settings import DataConfig as DataConfig
from ups.data.settings import GenerateConfig as GenerateConfig
from ups.data.settings import Seed

StageName = Literal["autoencoder", "operator", "diffusion", "consistency", "steady"]
Backend = Literal["auto", "nccl", "gloo"]
Part = Literal["attention", "conditioning", "skips"]
Count = Annotated[int, Range(least=1)]
NumberFromZero = Annotated[int, Range(least=0)]
Workers = Annotated[int, Range(least=0, most=1024)]  # more than a machine has cores would stop it, not feed a rank
Positive = Annotated[float, Range(above=0)]
NotNegative = Annotated[float, Range(least=0)]
Share = Annotated[float, Range(least=0, most=1)]
ShareBelowOne = Annotated[float, Range(least=0, below=1)]
Port = Annotated[int, Range(least=1, most=65535)]
SHORT = {"fp32": "float32", "bf16": "bfloat16", "fp16": "float16"}


@dataclass(frozen=True, slots=True, kw_only=True)
class LatentConfig:
    """The autoencoder: a grid of tokens, each standing for one patch of cells."""

    dim: Count = 32  # channels of one token
    patch: Count = 4  # cells along each axis that become one token
    hidden_dim: Count = 64
    depth: NumberFromZero = 2  # residual blocks in the encoder, attention layers in the decoder
    num_heads: Count = 4
    # A token's first channels are its own cells: reconstruction is exact on the grid, and bounds no prediction.
    exact: bool = False
    query_points: NumberFromZero = 0  # points decoded in one training step of the autoencoder; 0: every cell


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatorConfig:
    """The latent operator. `architecture` is a file of ups/models/ or your own `module:Class`."""

    architecture: str = "pdet_unet"
    hidden_dim: Count = 64
    depths: tuple[Count, ...] = (2, 2, 2)  # layers at each level of the token pyramid, the last is the bottom
    group_size: Count = 32  # channels of one attention group; divides hidden_dim
    num_heads: Count = 4  # heads inside one group; divides group_size
    mlp_ratio: Positive = 2.0
    window: Count = 8  # tokens along each axis of one attention window
    modes: Count = 16  # pdet_stack: waves along each axis that its layers mix
    dropout: ShareBelowOne = 0.0
    input_noise: NotNegative = (
        0.0  # training only: noise on the latents, in their standard deviations; steadies rollouts
    )
    without: tuple[Part, ...] = ()  # parts of the architecture that are left out, to see what each is good for

    def __post_init__(self) -> None:
        if self.hidden_dim % self.group_size:
            raise ValueError(f"group_size {self.group_size} does not divide hidden_dim {self.hidden_dim}")
        if self.group_size % self.num_heads:
            raise ValueError(f"num_heads {self.num_heads} does not divide group_size {self.group_size}")


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectiveConfig:
    """What the operator is trained on: which pairs of frames, and the terms of its loss."""

    measure: Literal["relative", "mse"] = "relative"  # of errors in latents: over the size of the target, or not
    longest_lead: Count = 1  # frames between input and target, at most; more: all pairs that lie so far apart
    rollout: NumberFromZero = 0  # steps after the first one, each from the answer of the one before
    rollout_from: ShareBelowOne = 0.5  # of all optimizer steps: then the rollout begins, and grows step by step
    push_forward: bool = False  # no gradient runs from a step of the rollout into the one before
    decoded: NotNegative = 0.0  # weight of the relative error of the decoded field, in physical units
    spectral: NotNegative = 0.0  # weight of the decoded field's fine structure: Fourier coefficients by wave number
    inverse: NotNegative = 0.0  # weight of the error of the answer, decoded and encoded again
    inverse_warmup: Share = 0.2  # of all optimizer steps, over which the inverse term comes in


@dataclass(frozen=True, slots=True, kw_only=True)
class DiffusionConfig:
    """The diffusion of the operator's residual; its network is of the operator's architecture and size."""

    sigma_min: Positive = 0.05  # the least noise, in units of the residual's own standard deviation
    sigma_max: Positive = 10.0  # the most: nothing of the residual is seen in it
    steps: Count = 4  # from the most noise to the least, of one evaluation each, and one at the end
    members: Annotated[int, Range(least=2)] = 4  # draws whose spread validation and evaluation compare with the error

    def __post_init__(self) -> None:
        if self.sigma_min >= self.sigma_max:
            raise ValueError(f"sigma_min {self.sigma_min:g} must be below sigma_max {self.sigma_max:g}")


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsistencyConfig:
    """The student of the diffusion that needs one step."""

    levels: Annotated[int, Range(least=2)] = 16  # steps of the teacher between most and least noise, learnt one by one
    target_decay: ShareBelowOne = 0.95  # of the average of the student's weights that it is compared with


@dataclass(frozen=True, slots=True, kw_only=True)
class SteadyConfig:
    """The solver of steady problems: correction cycles over a pyramid of grids, each given the equation's residual."""

    hidden_dim: Count = 32
    levels: Count = 3  # grids, each half as fine as the one before
    cycles: Count = 3
    # Training also on mirrored and turned samples, the square's eight symmetries; auto: where the data look alike.
    symmetric: bool | Literal["auto"] = "auto"


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheConfig:
    """The latent cache, and what of it is kept in memory while a run reads it."""

    enabled: bool = True
    dir: Path | None = None  # default: <output.dir>/cache
    dtype: Literal["float32", "float16"] = "float32"
    layout: Literal["npy", "safetensors", "shards", "pt"] = "npy"  # of a cache that is built; every layout is read
    ram_disk: str | None = None  # auto: a copy in /dev/shm if it has the room; a folder: there, or the run is refused

    def __post_init__(self) -> None:
        if self.ram_disk not in (None, "auto") and not Path(str(self.ram_disk)).is_absolute():
            raise ValueError(f"ram_disk is {self.ram_disk!r}: null, auto, or the absolute path of a folder is needed")


@dataclass(frozen=True, slots=True, kw_only=True)
class StageConfig:
    """One training stage. `batch_size` is the GLOBAL batch of one optimizer step, over all ranks."""

    epochs: Count = 20
    batch_size: Count = 64  # samples
    accumulate: Count = 1  # micro-batches a step is cut into on each rank
    lr: Positive = 1e-3
    min_lr_ratio: Share = 0.01  # end of the cosine, as a share of lr
    warmup_fraction: Share = 0.05  # of all steps
    weight_decay: NotNegative = 1e-4
    grad_clip: NotNegative = 1.0  # largest gradient norm; 0 switches clipping off
    ema_decay: ShareBelowOne = 0.99  # 0 switches the EMA off
    max_steps: Count | None = None  # stop early, for dry runs


@dataclass(frozen=True, slots=True, kw_only=True)
class StagesConfig:
    """The stages, and which of them `ups train CONFIG` runs."""

    run: tuple[StageName, ...] = ("autoencoder", "operator")
    autoencoder: StageConfig = field(default_factory=StageConfig)
    operator: StageConfig = field(default_factory=StageConfig)
    diffusion: StageConfig = field(default_factory=StageConfig)
    consistency: StageConfig = field(default_factory=StageConfig)
    steady: StageConfig = field(default_factory=StageConfig)

    def __post_init__(self) -> None:
        order = list(get_args(StageName))
        if not self.run or list(self.run) != sorted(set(self.run), key=order.index):
            raise ValueError(f"run must name stages once each, in this order: {', '.join(order)}")


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointConfig:
    """How checkpoints are written and which of them stay."""

    keep_last: Count = 2  # the newest ones; with one, a damaged one has none before it
    keep_best: bool = False  # of each stage also the one at the end of its best epoch; best.pt is there in any case
    keep_every_hours: Positive | None = None  # and one for every so many hours of training
    on_failure: Literal["stop", "continue"] = "stop"  # where one cannot be written: a full disk, a folder that is gone
    asynchronous: bool = True  # written by a thread while training goes on
    timeout_s: Positive = 600.0  # one that takes longer has failed


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingConfig:
    """Ranks, processes and precision, the same for every stage."""

    nproc: Count | None = None  # ranks; default: the GPUs, else 2
    backend: Backend = "auto"  # nccl where there are GPUs, gloo where not
    threads_per_rank: Count = 1  # CPU threads of one rank
    timeout_s: Positive = 120.0  # a collective that takes longer ends the run
    port: Port | None = None  # default: a free one
    workers: Workers = 0  # loader processes of one rank
    prefetch: Count = 2  # batches each loader process prepares ahead
    strategy: Literal["ddp", "fsdp2", "hsdp", "none"] = "ddp"  # how ranks share the model; one rank has it whole
    shard_ranks: Count | None = None  # hsdp: ranks over which one copy lies; default: those of one machine
    reshard_after_forward: bool = True  # fsdp2, hsdp: blocks give their weights back, and gather them again
    cpu_offload: bool = False  # fsdp2, hsdp: weights, gradients and optimizer state lie in the CPU's memory
    activation_checkpointing: bool = False  # a block's activations are computed again in the backward pass
    precision: Literal["float32", "bfloat16", "float16", "fp32", "bf16", "fp16"] = "float32"
    micro_batch: Count | Literal["auto"] | None = None  # samples of one forward pass of a rank; auto: what fits
    compile: bool | Literal["blocks"] = False
    spike: Literal["off", "keep", "skip", "rewind"] = "off"  # what is done about a step far from its own history
    max_skips: NumberFromZero = 0  # batches of a stage that all ranks may leave out: not finite, or not to be read
    checkpoint_every_steps: Count = 200
    checkpoint: CheckpointConfig = field(default_factory=CheckpointConfig)
    log_every_steps: Count = 10
    rollout_steps: Count = 10  # steps of the rollout reported by validation at the end

    def __post_init__(self) -> None:
        object.__setattr__(self, "precision", SHORT.get(self.precision, self.precision))


@dataclass(frozen=True, slots=True, kw_only=True)
class WandbConfig:
    """Weights & Biases; needs the package wandb and, online, a key (wandb login, or WANDB_API_KEY)."""

    mode: Literal["disabled", "offline", "online"] = "disabled"
    project: str = "ups"
    entity: str | None = None
    group: str | None = None
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class MlflowConfig:
    """MLflow; needs the package mlflow or mlflow-skinny."""

    uri: str | None = None  # of a tracking server or store; null switches it off
    experiment: str = "ups"


@dataclass(frozen=True, slots=True, kw_only=True)
class TrackingConfig:
    """Where metrics go beside metrics.jsonl, which is always written."""

    tensorboard: bool = True
    wandb: WandbConfig = field(default_factory=WandbConfig)
    mlflow: MlflowConfig = field(default_factory=MlflowConfig)
    finish_s: Positive = 30.0  # what trackers get to take the last rows; `ups track sync` sends what they did not


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputConfig:
    """Where a run writes everything it makes: checkpoints, metrics, cache, plots."""

    dir: Path = Path("reports/run")


@dataclass(frozen=True, slots=True, kw_only=True)
class PipelineConfig:
    """What `ups pipeline` asks of a result."""

    gate_samples: Count = 8  # of the validation split, for the small evaluation before the large one
    gate_share: Positive = 1.0  # the model's nRMSE must be below this share of what needs no training
    leaderboard: Path = Path("reports/leaderboard.jsonl")


@dataclass(frozen=True, slots=True, kw_only=True)
class UpsConfig:
    """One experiment."""

    data: DataConfig
    name: str = "run"
    seed: Seed = 17
    latent: LatentConfig = field(default_factory=LatentConfig)
    operator: OperatorConfig = field(default_factory=OperatorConfig)
    objective: ObjectiveConfig = field(default_factory=ObjectiveConfig)
    diffusion: DiffusionConfig = field(default_factory=DiffusionConfig)
    consistency: ConsistencyConfig = field(default_factory=ConsistencyConfig)
    steady: SteadyConfig = field(default_factory=SteadyConfig)
    cache: CacheConfig = field(default_factory=CacheConfig)
    stages: StagesConfig = field(default_factory=StagesConfig)
    training: TrainingConfig = field(default_factory=TrainingConfig)
    output: OutputConfig = field(default_factory=OutputConfig)
    tracking: TrackingConfig = field(default_factory=TrackingConfig)
    pipeline: PipelineConfig = field(default_factory=PipelineConfig)

    @property
    def cache_dir(self) -> Path:
        """The folder of the latent cache."""
        return self.cache.dir if self.cache.dir is not None else self.output.dir / "cache"


def load_config(path: Path, overrides: Sequence[str] = ()) -> UpsConfig:
    """Returns the experiment in `path`, with `a.b=value` overrides applied last.

    Raises UsageError naming file, line and, for a mistyped key, its nearest neighbour.
    """
    return load(path, UpsConfig, overrides)


def to_plain(config: Any) -> Any:
    """Returns the configuration as dicts, lists, strings and numbers: YAML, JSON and checkpoints hold it."""
    if is_dataclass(config):
        return {item.name: to_plain(getattr(config, item.name)) for item in fields(config)}
    if isinstance(config, tuple):
        return [to_plain(item) for item in config]
    return str(config) if isinstance(config, Path) else config


def from_plain(plain: Mapping[str, Any], place: str) -> UpsConfig:
    """Returns what `to_plain` wrote; `place` names where it was found. Raises UsageError if it is not that."""
    return build(UpsConfig, _located(plain, place))


def _located(value: Any, place: str) -> Located:
    if isinstance(value, Mapping):
        return Located({str(key): _located(item, place) for key, item in value.items()}, place)
    if isinstance(value, list):
        return Located([_located(item, place) for item in value], place)
    return Located(value, place)
