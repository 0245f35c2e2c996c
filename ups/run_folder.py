"""The folder of one run: what lies where, and the rule that nothing in it is ever overwritten."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from ups.config import UpsConfig, from_plain, to_plain
from ups.errors import ConfigError, from_os_error
from ups.stages import NEEDS, ORDER

# A resumed run may differ in these: they change neither the data, nor the model, nor the order of anything.
FREE_TO_CHANGE = (
    "name",
    "output.dir",
    "cache.dir",
    "cache.layout",
    "cache.ram_disk",
    "data.root",
    "data.generate",
    "training.port",
    "training.timeout_s",
    "training.threads_per_rank",
    "training.workers",
    "training.prefetch",
    "training.backend",
    "training.nproc",  # positions are those of global batches, whatever the number of ranks
    "training.strategy",  # nor how they share the model
    "training.shard_ranks",
    "training.reshard_after_forward",
    "training.cpu_offload",
    "training.activation_checkpointing",
    "training.compile",
    "training.micro_batch",
    "training.spike",
    "training.max_skips",
    "training.checkpoint",  # and checkpoint_every_steps
    "tracking",
    "pipeline",
    "stages.run",
    *(f"stages.{stage}.{key}" for stage in ORDER for key in ("accumulate", "max_steps")),
)


MANIFESTS = "*-[0-9]*-[0-9]*[0-9]/manifest.json"


@dataclass(frozen=True, slots=True)
class RunFolder:
    """Paths below `output.dir`."""

    root: Path

    @property
    def config(self) -> Path:
        """The resolved configuration; with it the folder belongs to a run."""
        return self.root / "config.yaml"

    @property
    def normalisation(self) -> Path:
        """Mean and standard deviation of the training split."""
        return self.root / "normalisation.json"

    @property
    def metrics(self) -> Path:
        """One JSON object a line."""
        return self.root / "metrics.jsonl"

    @property
    def tracking(self) -> Path:
        """What each tracker has been sent, and what it said."""
        return self.root / "tracking"

    @property
    def spikes(self) -> Path:
        """Steps far from their own history with the samples of their batches, one JSON object a line."""
        return self.root / "spikes.jsonl"

    @property
    def tensorboard(self) -> Path:
        """Event files."""
        return self.root / "tensorboard"

    @property
    def checkpoints(self) -> Path:
        """What --resume goes on from, a folder each, beside the trained models."""
        return self.root / "checkpoints"

    @property
    def last(self) -> Path:
        """What --resume went on from before checkpoints were folders; still read."""
        return self.checkpoints / "last.pt"

    def saved(self) -> list[Path]:
        """Returns what --resume can go on from, newest first; whether it is good is not looked at."""
        old = [self.last] if self.last.exists() else []
        return [*(path.parent for path in sorted(self.checkpoints.glob(MANIFESTS), reverse=True)), *old]

    @property
    def autoencoder(self) -> Path:
        """The trained encoder and decoder."""
        return self.checkpoints / "autoencoder.pt"

    @property
    def best(self) -> Path:
        """The self-contained model with the lowest validation error."""
        return self.checkpoints / "best.pt"

    def trained(self, stage: str) -> Path:
        """What a stage leaves to later ones and to evaluation."""
        return self.best if stage == "operator" else self.checkpoints / f"{stage}.pt"

    def traces(self) -> list[str]:
        """Returns the names of what an earlier run left here."""
        models = (self.trained(stage) for stage in ORDER)
        found = (self.config, self.metrics, self.normalisation, *models, *self.saved()[:1])
        return [str(path.relative_to(self.root)) for path in found if path.exists()]

    def check_free(self, *, stage: str = "") -> None:
        """Raises ConfigError if a run is in there already; one `stage` needs those before it, and not itself."""
        before = NEEDS.get(stage, ())
        if before and all(self.trained(one).exists() for one in before) and not self.trained(stage).exists():
            return
        if left := self.traces():
            raise ConfigError(
                f"{self.root} holds a run already ({', '.join(left)}), and nothing of it is overwritten",
                hint=f"go on with it: add --resume; or start another: --set output.dir={self._free_name()}",
            )

    def check_place(self) -> None:
        """Raises ConfigError if the folder cannot be made, or not be written; makes nothing."""
        there = next(place for place in (self.root, *self.root.absolute().parents) if os.path.lexists(place))
        if not there.is_dir():
            raise ConfigError(
                f"output.dir is {self.root}, and {there} is no folder",
                hint="name another: --set output.dir=DIR",
            )
        if not os.access(there, os.W_OK | os.X_OK):
            raise ConfigError(
                f"output.dir is {self.root}, and nothing can be written into {there}",
                hint=f"check who owns it: namei -l {there}; or name another: --set output.dir=DIR",
            )

    def check_earlier(self, stages: Sequence[str]) -> None:
        """Raises ConfigError if a stage needs one that neither comes before it nor was trained."""
        for name in stages:
            for earlier in NEEDS[name]:
                if earlier not in stages and not self.trained(earlier).exists():
                    raise self.untrained(name, earlier)

    def untrained(self, stage: str, earlier: str) -> ConfigError:
        """Returns what is said where a stage lacks an earlier one."""
        return ConfigError(
            f"stage {stage} needs the trained {earlier}, and {self.trained(earlier)} is not there",
            hint=f"name it before in stages.run, or train it first: ups train CONFIG --stage {earlier}",
        )

    def claim(self, config: UpsConfig) -> None:
        """Makes the folder and writes config.yaml into it; `check_free` came before."""
        try:
            self.checkpoints.mkdir(parents=True, exist_ok=True)
            write_atomically(self.config, yaml.safe_dump(to_plain(config), sort_keys=False).encode())
        except OSError as error:
            raise from_os_error(error, action="cannot make the output folder", path=self.root) from error

    def release(self) -> None:
        """Takes back what a run left that was refused before its first step; the folder can then be claimed again."""
        if self.saved() or any(self.trained(stage).exists() for stage in ORDER):
            return
        if self.metrics.exists() and self.metrics.stat().st_size:
            return
        for path in (self.config, self.normalisation, self.metrics, *self.tensorboard.glob("events.*")):
            path.unlink(missing_ok=True)
        for folder in (self.tensorboard, self.checkpoints):
            if folder.is_dir() and not any(folder.iterdir()):
                folder.rmdir()

    def read_config(self) -> UpsConfig:
        """Returns the configuration this run was started with."""
        try:
            plain = yaml.safe_load(self.config.read_text(encoding="utf-8"))
        except FileNotFoundError as error:
            raise ConfigError(
                f"there is no run in {self.root} to go on with: {self.config.name} is not there",
                hint="leave out --resume to start one",
            ) from error
        except (OSError, yaml.YAMLError, UnicodeDecodeError) as error:
            raise ConfigError(f"{self.config} cannot be read: {error}") from error
        return from_plain(plain, str(self.config))

    def check_unchanged(self, config: UpsConfig) -> None:
        """Raises ConfigError naming each key whose value differs from the run's own, where that matters."""
        before, now = _flat(to_plain(self.read_config())), _flat(to_plain(config))
        changed = [
            f"{key} was {before.get(key)} and is {now.get(key)}"
            for key in sorted(before.keys() | now.keys())
            if before.get(key) != now.get(key) and not key.startswith(FREE_TO_CHANGE)
        ]
        if changed:
            raise ConfigError(
                f"the run in {self.root} cannot go on with another configuration: {'; '.join(changed)}",
                hint=f"put it back, or start another run: --set output.dir={self._free_name()}",
            )

    def _free_name(self) -> str:
        number = 2
        while (candidate := self.root.with_name(f"{self.root.name}-{number}")).exists():
            number += 1
        return str(candidate)


def write_atomically(path: Path, content: bytes) -> None:
    """Writes `path` so that a reader, or a crash, sees the old file or the new one and nothing between."""
    temporary = path.with_name(path.name + ".tmp")
    try:
        with temporary.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
        sync_folder(path.parent)
    except OSError:
        if temporary.is_file():
            temporary.unlink()
        raise


def sync_folder(folder: Path) -> None:
    """Makes a rename in `folder` survive a power cut."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _flat(plain: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for key, value in plain.items():
        if isinstance(value, Mapping):
            flat |= _flat(value, f"{prefix}{key}.")
        else:
            flat[f"{prefix}{key}"] = value
    return flat
