"""Metrics in Weights & Biases, online or in a folder that `wandb sync` sends; a resumed run is the same run there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ups.config import UpsConfig, to_plain
from ups.stages import ORDER
from ups.tracking import Record, curves

INIT_S = 30.0


class WeightsAndBiases:
    """One run; each stage has its own axis of steps."""

    def __init__(self, config: UpsConfig, folder: Path, run_id: str) -> None:
        import wandb

        settings = config.tracking.wandb
        folder.mkdir(parents=True, exist_ok=True)
        self._run: Any = wandb.init(
            project=settings.project,
            entity=settings.entity,
            group=settings.group,
            tags=list(settings.tags),
            name=config.name,
            id=run_id,
            resume="allow",
            mode="online" if settings.mode == "online" else "offline",
            dir=str(folder),
            config=to_plain(config),
            # Neither its console nor its look at the machine: the training is another process.
            settings=wandb.Settings(console="off", silent=True, x_disable_stats=True, init_timeout=INIT_S),
        )
        for stage in ORDER:
            self._run.define_metric(f"{stage}/step", hidden=True)
            self._run.define_metric(f"{stage}/*", step_metric=f"{stage}/step")

    def log(self, record: Record) -> None:
        """Adds the record's numbers at its step."""
        self._run.log({**curves(record), f"{record['stage']}/step": record["step"]})

    def finish(self, exit_code: int) -> None:
        """Ends the run there with the code with which it ended here."""
        self._run.finish(exit_code=exit_code)
