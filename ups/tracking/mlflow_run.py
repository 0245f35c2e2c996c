"""Metrics in MLflow; a resumed run is the same run there."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from typing import Any

from ups.config import UpsConfig, to_plain
from ups.tracking import Record, curves

MOST_OF_A_PARAMETER = 500  # characters that every server takes
AT_ONCE = 100  # parameters in one request, as MLflow allows


class Mlflow:
    """One run of an experiment."""

    def __init__(self, config: UpsConfig, run_id: str, keep_id: Callable[[str], None]) -> None:
        from mlflow.entities import Metric, Param
        from mlflow.tracking import MlflowClient

        settings = config.tracking.mlflow
        self._metric = Metric
        self._client: Any = MlflowClient(tracking_uri=settings.uri)
        if not run_id:
            found = self._client.get_experiment_by_name(settings.experiment)
            experiment = found.experiment_id if found else self._client.create_experiment(settings.experiment)
            run_id = self._client.create_run(experiment, run_name=config.name).info.run_id
            keep_id(run_id)
            flat = [Param(name, value[:MOST_OF_A_PARAMETER]) for name, value in _flat(to_plain(config)).items()]
            for start in range(0, len(flat), AT_ONCE):
                self._client.log_batch(run_id, params=flat[start : start + AT_ONCE])
        else:
            self._client.set_terminated(run_id, "RUNNING")
        self._id = run_id

    def log(self, record: Record) -> None:
        """Adds the record's numbers at its step."""
        now, step = int(time.time() * 1000), int(record["step"])
        finite = {name: value for name, value in curves(record).items() if math.isfinite(value)}
        self._client.log_batch(
            self._id, metrics=[self._metric(name, value, now, step) for name, value in finite.items()]
        )

    def finish(self, exit_code: int) -> None:
        """Ends the run there as it ended here."""
        self._client.set_terminated(
            self._id, "FINISHED" if not exit_code else "KILLED" if exit_code > 128 else "FAILED"
        )


def _flat(plain: Mapping[str, Any], prefix: str = "") -> dict[str, str]:
    flat: dict[str, str] = {}
    for key, value in plain.items():
        flat |= _flat(value, f"{prefix}{key}.") if isinstance(value, Mapping) else {f"{prefix}{key}": str(value)}
    return flat
