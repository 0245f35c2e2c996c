"""Which trackers a configuration names, how each is opened, and whether it can work: asked before anything is spent."""

from __future__ import annotations

import importlib.util
import netrc
import os
import uuid
from collections.abc import Callable, Mapping
from pathlib import Path
from urllib.parse import urlsplit

from ups.config import UpsConfig
from ups.errors import ConfigError
from ups.run_folder import RunFolder
from ups.tracking import Tracker
from ups.tracking.feed import Sent

Open = Callable[[UpsConfig, RunFolder, Sent, Callable[[], None]], Tracker]


def named(config: UpsConfig) -> dict[str, Open]:
    """Returns how each wanted tracker is opened, by the name under which its progress is kept."""
    tracking = config.tracking
    wanted: dict[str, Open] = {}
    if tracking.tensorboard:
        wanted["tensorboard"] = _tensorboard
    if tracking.wandb.mode != "disabled":
        wanted[f"wandb-{tracking.wandb.mode}"] = _wandb
    if tracking.mlflow.uri is not None:
        wanted["mlflow"] = _mlflow
    return wanted


def check(config: UpsConfig, environ: Mapping[str, str] = os.environ) -> None:
    """Raises ConfigError where a wanted tracker lacks its package or its key."""
    tracking = config.tracking
    if tracking.wandb.mode != "disabled":
        _needs("wandb", "tracking.wandb.mode=disabled")
    if tracking.wandb.mode == "online" and not _has_wandb_key(environ):
        raise ConfigError(
            "tracking.wandb.mode is online, and there is no key for it: neither WANDB_API_KEY nor an entry in .netrc",
            hint="wandb login; or --set tracking.wandb.mode=offline, and `wandb sync` later",
        )
    if tracking.mlflow.uri is not None:
        _needs("mlflow", "tracking.mlflow.uri=null", package="mlflow-skinny")


def _needs(module: str, without: str, package: str = "") -> None:
    if importlib.util.find_spec(module) is None:
        raise ConfigError(
            f"this configuration tracks with {module}, and the package is not installed",
            hint=f"pip install {package or module}; or --set {without}",
        )


def _has_wandb_key(environ: Mapping[str, str]) -> bool:
    if environ.get("WANDB_API_KEY") or environ.get("WANDB_IDENTITY_TOKEN_FILE"):
        return True
    host = urlsplit(environ.get("WANDB_BASE_URL", "https://api.wandb.ai")).hostname or ""
    home = Path(environ.get("HOME", "/"))
    for path in (Path(environ.get("NETRC", home / ".netrc")), home / "_netrc"):
        try:
            if netrc.netrc(str(path)).authenticators(host):
                return True
        except (OSError, netrc.NetrcParseError):
            continue
    return False


def _tensorboard(config: UpsConfig, folder: RunFolder, sent: Sent, keep: Callable[[], None]) -> Tracker:
    from ups.tracking.tensorboard import TensorBoard

    return TensorBoard(folder.tensorboard)


def _wandb(config: UpsConfig, folder: RunFolder, sent: Sent, keep: Callable[[], None]) -> Tracker:
    from ups.tracking.weights_and_biases import WeightsAndBiases

    if not sent.run_id:
        sent.run_id = uuid.uuid4().hex[:12]
        keep()
    return WeightsAndBiases(config, folder.tracking / "wandb", sent.run_id)


def _mlflow(config: UpsConfig, folder: RunFolder, sent: Sent, keep: Callable[[], None]) -> Tracker:
    from ups.tracking.mlflow_run import Mlflow

    def keep_id(run_id: str) -> None:
        sent.run_id = run_id
        keep()

    return Mlflow(config, sent.run_id, keep_id)
