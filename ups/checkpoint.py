"""Checkpoints: written whole or not at all, and read without running anything in them.

All are `torch.save` files of plain containers and CPU tensors, for `weights_only=True`. Keys of each:

    format 1, kind "last" | "autoencoder" | "best", torch (version), config (plain), spec (FieldSpec.to_dict),
    normalisation (Normalisation.to_dict)
    autoencoder.pt   + autoencoder (state, EMA), validation (reconstruction nRMSE), epoch, step
    best.pt          + autoencoder, operator (state, EMA), validation (one-step nRMSE), epoch, step
    diffusion.pt, consistency.pt, steady.pt   the same, + stage, later {stage: state (EMA)}
    of several problems: problems {name: {spec, normalisation}} and tasks {name: what is trained} in their places
    last.pt          + stage, world_size, total_steps, position {epoch, batch, step}, model, ema, optimizer, best,
                       metrics_bytes, ranks: for each rank {random (generators), meters, position}

last.pt is of earlier versions; ups.checkpointing writes what a run goes on from now.
`load_best` and `Best.surrogate` are what evaluation needs.
"""

from __future__ import annotations

import errno
import os
import pickle
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, cast

import torch
from torch import nn

from ups.config import UpsConfig, from_plain, to_plain
from ups.data.fields import FieldSpec
from ups.data.normalisation import Normalisation
from ups.data.several.problems import chosen, problems
from ups.data.torch_reason import begins_as_saved, torch_reason
from ups.errors import ConfigError, DataError, ForeignFileError, from_os_error
from ups.models import build_operator
from ups.models.autoencoder import FieldAutoencoder
from ups.models.correction import Correction
from ups.models.denoiser import Denoiser
from ups.models.patches import token_grid
from ups.models.steady import SteadySolver
from ups.models.surrogate import SteadySurrogate, Surrogate
from ups.run_folder import sync_folder

FORMAT = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Best:
    """The content of best.pt, or of diffusion.pt, consistency.pt or steady.pt, which hold the later stages too."""

    path: Path
    config: UpsConfig
    spec: FieldSpec
    normalisation: Normalisation
    autoencoder: dict[str, torch.Tensor]
    operator: dict[str, torch.Tensor]
    later: dict[str, dict[str, torch.Tensor]]  # of the stages after the operator, as far as they were trained
    stage: str  # the last of them
    validation: float  # its one-step nRMSE, physical units, over the validation split
    epoch: int
    step: int

    def surrogate(self, device: torch.device | str = "cpu", stage: str = "operator") -> Surrogate:
        """Returns the model on `device`, in evaluation mode; after stage "diffusion" or "consistency" it corrects."""
        autoencoder = build_autoencoder(self.config, self.spec)
        operator = build_latent_operator(self.config, self.spec)
        fill(autoencoder, self.autoencoder, "autoencoder")
        fill(operator, self.operator, "operator")
        correction = None
        if stage != "operator":
            student = stage == "consistency"
            denoiser = build_denoiser(self.config, self.spec, student=student)
            fill(denoiser, self.later[stage], stage)
            correction = build_correction(self.config, denoiser, student=student)
        return Surrogate(autoencoder, operator, self.normalisation, self.spec, correction).to(device).eval()

    def predictors(self, device: torch.device | str = "cpu") -> dict[str, Surrogate | SteadySurrogate]:
        """Returns everything the checkpoint can predict with, by the stage that made it."""
        found: dict[str, Surrogate | SteadySurrogate] = {"operator": self.surrogate(device)}
        for stage in self.later:
            found[stage] = self.solver(device) if stage == "steady" else self.surrogate(device, stage)
        return found

    def solver(self, device: torch.device | str = "cpu") -> SteadySurrogate:
        """Returns what stage "steady" has trained, in evaluation mode."""
        solver = build_steady_solver(self.config, self.spec, self.normalisation)
        fill(solver, self.later["steady"], "steady")
        return SteadySurrogate(solver, self.normalisation).to(device).eval()


def fill(module: nn.Module, state: Mapping[str, torch.Tensor], name: str) -> None:
    """Fills a module with what was trained. Raises ConfigError where that is another model's."""
    here = module.state_dict()
    for key in sorted(here.keys() | state.keys()):
        shapes = [tuple(found[key].shape) if key in found else None for found in (state, here)]
        if shapes[0] != shapes[1]:
            there, wanted = ("not there" if one is None else f"of shape {one}" for one in shapes)
            raise ConfigError(
                f"the trained {name} is that of another model: its {key} is {there}, this configuration's is {wanted}",
                hint="train it anew in another output.dir, or put the configuration back that it was trained with",
            )
    module.load_state_dict(state)


def build_autoencoder(config: UpsConfig, spec: FieldSpec) -> FieldAutoencoder:
    """Returns the untrained autoencoder of a configuration for the fields of `spec`."""
    return FieldAutoencoder(
        config.latent, grid=spec.grid, channels=spec.channels, fields=spec.fields, periodic=spec.periodic
    )


def build_latent_operator(config: UpsConfig, spec: FieldSpec) -> nn.Module:
    """Returns the untrained operator of a configuration for the fields of `spec`."""
    return build_operator(config.operator, **_tokens(config, spec))


def build_denoiser(config: UpsConfig, spec: FieldSpec, *, student: bool = False) -> Denoiser:
    """Returns the untrained denoiser of stage diffusion, or the student of stage consistency."""
    least = config.diffusion.sigma_min if student else 0.0
    return Denoiser(config.operator, least=least, **_tokens(config, spec))


def build_correction(config: UpsConfig, denoiser: Denoiser, *, student: bool = False) -> Correction:
    """Returns the sampler around a denoiser: some steps of the diffusion, one of the student."""
    settings = config.diffusion
    steps = 0 if student else settings.steps
    return Correction(denoiser, least=settings.sigma_min, most=settings.sigma_max, steps=steps)


def build_steady_solver(config: UpsConfig, spec: FieldSpec, normalisation: Normalisation) -> SteadySolver:
    """Returns the untrained solver of stage steady."""
    return SteadySolver(config.steady, units=normalisation, forcing=spec.parameter)


def _tokens(config: UpsConfig, spec: FieldSpec) -> dict[str, Any]:
    grid = token_grid(spec.grid, config.latent.patch)
    return {"latent_dim": config.latent.dim, "token_grid": grid, "periodic": spec.periodic}


def header(kind: str, config: UpsConfig, spec: FieldSpec, normalisation: Normalisation) -> dict[str, Any]:
    """Returns the keys that every checkpoint has."""
    return {
        "format": FORMAT,
        "kind": kind,
        "torch": str(torch.__version__),
        "config": to_plain(config),
        **_described(spec, normalisation),
    }


def header_of_several(config: UpsConfig, data: Mapping[str, tuple[FieldSpec, Normalisation]]) -> dict[str, Any]:
    """Returns the same where there are several problems, by name; of a run with one its name is ""."""
    if "" in data:
        return header("", config, *data[""])
    whole = header("", config, *next(iter(data.values())))
    described = {task: _described(*one) for task, one in data.items()}
    return {key: value for key, value in whole.items() if key not in ("spec", "normalisation")} | {
        "problems": described
    }


def _described(spec: FieldSpec, normalisation: Normalisation) -> dict[str, Any]:
    return {"spec": spec.to_dict(), "normalisation": normalisation.to_dict()}


def save(path: Path, content: dict[str, Any]) -> int:
    """Writes a checkpoint beside `path`, then puts it there in one step; returns its bytes.

    Raises UpsError with the reason, a full disk above all; the file that was there is then untouched.
    """
    temporary = path.with_name(path.name + ".tmp")
    try:
        with temporary.open("wb") as file:
            sink = _Sink(file)
            try:
                torch.save(_on_cpu(content), cast("IO[bytes]", sink))
            except RuntimeError as error:  # torch says "unexpected pos" where the disk said that it is full
                raise sink.refused or error from error
            file.flush()
            os.fsync(file.fileno())
        size = temporary.stat().st_size
        temporary.replace(path)
        sync_folder(path.parent)
    except OSError as error:
        if temporary.is_file():
            temporary.unlink()
        raise from_os_error(error, action="cannot write the checkpoint", path=path) from error
    return size


def load(path: Path, kind: str) -> dict[str, Any]:
    """Returns a checkpoint on the CPU. Raises DataError for one that is missing, damaged or of another kind."""
    try:
        content = torch.load(path, map_location="cpu", weights_only=True)
    except OSError as error:
        if error.errno == errno.EINVAL:  # torch seeks before the start of a file that was cut
            raise DataError(f"{path} is damaged: it is cut off", hint=f"ups-doctor scan-cache {path}") from error
        raise from_os_error(error, action="cannot read the checkpoint", path=path) from error
    except (RuntimeError, EOFError, ValueError, KeyError, pickle.UnpicklingError) as error:
        reason = torch_reason(error, path)
        refused = DataError if begins_as_saved(path) else ForeignFileError
        raise refused(f"{path} is damaged or no checkpoint: {reason}", hint=f"ups-doctor scan-cache {path}") from error
    if not isinstance(content, dict) or content.get("kind") != kind or content.get("format") != FORMAT:
        found = content.get("kind", "something else") if isinstance(content, dict) else type(content).__name__
        raise ForeignFileError(f"{path} holds {found!r}, a checkpoint of kind '{kind}', format {FORMAT}, is needed")
    return content


def load_best(path: Path, task: str = "") -> Best:
    """Returns what best.pt holds, of several problems that of `task`.

    Raises DataError for anything else, ConfigError where the problem is not named, or is none of the run's.
    """
    content = load(path, "best")
    try:
        config = from_plain(content["config"], str(path))
        if chosen(list(content.get("tasks", ())), task, str(path)):
            config = problems(config)[task]
            content = content | content["problems"][task] | content["tasks"][task]
        return Best(
            path=path,
            config=config,
            spec=FieldSpec.from_dict(content["spec"]),
            normalisation=Normalisation.from_dict(content["normalisation"]),
            autoencoder=content["autoencoder"],
            operator=content["operator"],
            later=content.get("later", {}),
            stage=content.get("stage", "operator"),
            validation=content["validation"],
            epoch=content["epoch"],
            step=content["step"],
        )
    except (KeyError, TypeError) as error:
        raise DataError(f"{path} lacks a part of a checkpoint: {error}") from error


def _on_cpu(value: Any) -> Any:
    """Returns the same content with every tensor on the CPU: a file that names a GPU opens only where there is one."""
    if isinstance(value, torch.Tensor):
        return value.cpu()
    if isinstance(value, dict):
        return {name: _on_cpu(item) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(_on_cpu(item) for item in value)
    return value


class _Sink:
    """A file that remembers why a write was refused: torch reports it as a RuntimeError without the reason."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self.refused: OSError | None = None

    def write(self, content: bytes) -> int:
        try:
            return self._file.write(content)
        except OSError as error:
            self.refused = error
            raise

    def flush(self) -> None:
        try:
            self._file.flush()
        except OSError as error:
            self.refused = error
            raise
