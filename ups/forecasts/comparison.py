"""Several checkpoints against each other on the same samples: one table, one picture."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter

from ups.errors import ConfigError, from_os_error
from ups.plots import STYLE

COMMON = ("persistence", "mean_field")  # what needs no training is the same for all
PROBLEM = ("task", "parameters", "data", "split", "samples", "grid")
SHOWN = ("nRMSE", "fRMSE_low", "fRMSE_mid", "fRMSE_high")


def compared(evaluations: Mapping[str, Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Returns a row for each model of each checkpoint, best one-step nRMSE first, and one for each baseline.

    Raises ConfigError where checkpoints were evaluated on other problems, samples or files.
    """
    first_name, first = next(iter(evaluations.items()))
    for name, numbers in evaluations.items():
        other = [key for key in PROBLEM if numbers[key] != first[key]]
        if other:
            key = other[0]
            raise ConfigError(
                f"{name} and {first_name} cannot be compared: {key} is {numbers[key]} and {first[key]}",
                hint="give both the same data: --data FILE --split all",
            )
    rows = [row for name, numbers in evaluations.items() for row in _rows(name, numbers)]
    rows += [_row(name, name, first) for name in COMMON if name in first["one_step"]]
    return sorted(rows, key=lambda row: float("inf") if row["nRMSE"] is None else row["nRMSE"])


def draw(rows: Sequence[Mapping[str, Any]], title: str, path: Path) -> Path:
    """Writes the errors of all rows as points, one step and rollout. Raises UpsError where it cannot be written."""
    kinds = ["nRMSE", *(["rollout_nRMSE"] if any(row["rollout_nRMSE"] is not None for row in rows) else [])]
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(2.4 + 3.4 * len(kinds), 0.32 * len(rows) + 1.4), layout="constrained")
        FigureCanvasAgg(figure)
        axes = figure.subplots(1, len(kinds), squeeze=False, sharey=True)[0]
        for axis, kind in zip(axes, kinds, strict=True):
            values = [row[kind] or float("nan") for row in rows]
            colours = ["#b3541e" if row["model"] in COMMON else "#0b5fa5" for row in rows]
            # Points and not bars: on a logarithmic axis a bar begins nowhere.
            axis.scatter(values, range(len(rows)), color=colours)
            axis.set(xscale="log", xlabel="one step" if kind == "nRMSE" else "rollout")
            axis.xaxis.set_minor_formatter(NullFormatter())
            axis.grid(visible=True, which="both", alpha=0.2)
        axes[0].set_yticks(range(len(rows)), [row["name"] for row in rows])
        axes[0].invert_yaxis()
        figure.suptitle(f"nRMSE, {title}")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            figure.savefig(path)
        except OSError as error:
            raise from_os_error(error, action="cannot write the picture", path=path) from error
    return path


def _rows(name: str, numbers: Mapping[str, Any]) -> list[dict[str, Any]]:
    ours = [model for model in numbers["one_step"] if model not in (*COMMON, "autoencoder")]
    called = {model: name if len(ours) == 1 else f"{name}: {model.replace('_', ', ')}" for model in ours}
    if len(ours) > 1:
        called["model"] = f"{name}: operator alone"
    return [_row(called[model], model, numbers) for model in ours]


def _row(name: str, model: str, numbers: Mapping[str, Any]) -> dict[str, Any]:
    stage = "operator" if model == "model" else model.removesuffix("_ensemble")
    step, rollout = numbers["one_step"][model], numbers.get("rollout", {}).get(model)
    return {
        "name": name.replace("_", " ") if model in COMMON else name,
        "model": model,
        **{metric: step[metric] for metric in SHOWN},
        "rollout_nRMSE": rollout["nRMSE"] if rollout else None,
        "parameters": numbers["parameter_count"].get(stage),
        "seconds_a_step": numbers["seconds_a_step"].get(stage),
    }
