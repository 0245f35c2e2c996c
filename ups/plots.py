"""Pictures of an evaluation: fields and errors, error over time, learning curves. Nothing is shown on a screen.

One colour scale serves truth and prediction; errors have one of their own, symmetric about zero.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from ups.data.fields import FieldSpec
from ups.errors import from_os_error
from ups.evaluate import Evaluation, Example

FIELD_MAP, ERROR_MAP, COEFFICIENT_MAP = "viridis", "RdBu_r", "Greys"
COLOURS = {"model": "#0b5fa5", "persistence": "#b3541e", "autoencoder": "#5c6670", "mean_field": "#b3541e"}
COLOURS |= {"diffusion": "#7a3b9a", "diffusion_ensemble": "#7a3b9a", "consistency": "#2b8a57", "steady": "#2b8a57"}
COLOURS |= {"consistency_ensemble": "#2b8a57"}
STYLE: dict[Any, Any] = {
    "font.size": 10,
    "axes.titlesize": 11,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": False,
    "legend.frameon": False,
    "savefig.dpi": 150,
}
Records = Sequence[Mapping[str, Any]]


def draw(evaluation: Evaluation, records: Records, folder: Path) -> list[Path]:
    """Writes all pictures of an evaluation as PNG; returns their paths. Raises UpsError for a full disk."""
    with mpl.rc_context(STYLE):
        figures = {"fields.png": fields(evaluation)}
        if "rollout" in evaluation.numbers:
            if len(evaluation.spec.grid) == 1:
                figures["profiles.png"] = profiles(evaluation.examples, evaluation.spec)
            figures["error_over_time.png"] = error_over_time(evaluation.numbers)
        if evaluation.numbers.get("ensembles"):
            figures["ensembles.png"] = ensembles(evaluation.numbers["ensembles"])
        if any(record.get("kind") == "epoch" for record in records):
            figures["learning_curves.png"] = learning_curves(records)
        return [_save(figure, folder / name) for name, figure in figures.items()]


def fields(evaluation: Evaluation) -> Figure:
    """Returns truth, prediction and error of a few samples, one a row; steady problems with their coefficient."""
    steady = evaluation.spec.kind == "steady"
    titles = ["truth u", "prediction", "prediction - truth"]
    flat = len(evaluation.spec.grid) == 1
    where = "(x, t)" if flat else f"(x, y), t = {evaluation.spec.times[-1]:.2f}"
    titles = ["coefficient a", *titles] if steady else [f"{titles[0]}{where}", "rollout from t = 0", titles[2]]
    rows = len(evaluation.examples)
    figure = Figure(figsize=(3.1 * len(titles) + 0.8, 2.7 * rows + 0.6), layout="constrained")
    axes = figure.subplots(rows, len(titles), squeeze=False, sharex=True, sharey=True)
    for row, example in zip(axes, evaluation.examples, strict=True):
        _row_of_fields(figure, list(row), example, evaluation.spec)
    for axis, title in zip(axes[0], titles, strict=True):
        axis.set_title(title)
    for axis in axes[-1]:
        axis.set_xlabel("x" if len(evaluation.spec.grid) == 2 else "time t")
    figure.suptitle(_headline(evaluation.numbers))
    return figure


def _row_of_fields(figure: Figure, row: list[Axes], example: Example, spec: FieldSpec) -> None:
    plane = len(spec.grid) == 2
    first, second = (spec.coordinates[0], spec.coordinates[-1]) if plane else (spec.times, spec.coordinates[0])
    extent = (*_edges(first), *_edges(second))
    row[0].xaxis.set_major_locator(MaxNLocator(4, prune="upper"))  # the last label would run into the next picture
    row[0].set_ylabel(f"sample {example.sample}\n" + ("y" if plane else "position x"))
    if example.given is not None:
        # A look-alike of ink on paper: a has two values, and the eye should not read it as a solution.
        row[0].imshow(example.given.T, origin="lower", extent=extent, aspect="equal", cmap=COEFFICIENT_MAP)
        row = row[1:]
    # Of what moves in the plane the last frame is shown.
    truth, prediction = (u[-1] if u.ndim > len(spec.grid) == 2 else u for u in (example.truth, example.prediction))
    error = prediction - truth
    low, high = float(truth.min()), float(truth.max())
    reach = _reach(error)
    aspect: Literal["equal", "auto"] = "equal" if plane else "auto"
    images = [
        axis.imshow(values.T, origin="lower", extent=extent, aspect=aspect, cmap=colours, vmin=bottom, vmax=top)
        for axis, values, colours, bottom, top in (
            (row[0], truth, FIELD_MAP, low, high),
            (row[1], prediction, FIELD_MAP, low, high),
            (row[2], error, ERROR_MAP, -reach, reach),
        )
    ]
    figure.colorbar(images[0], ax=row[1], fraction=0.06, pad=0.02, label="u")
    figure.colorbar(images[2], ax=row[2], fraction=0.06, pad=0.02, label="error in u")


def profiles(examples: Sequence[Example], spec: FieldSpec) -> Figure:
    """Returns u over x at four times, truth and rollout, one sample a row."""
    frames = np.linspace(0, spec.frames - 1, min(4, spec.frames)).round().astype(int)
    figure = Figure(figsize=(2.6 * len(frames) + 0.6, 2.1 * len(examples) + 0.6), layout="constrained")
    axes = figure.subplots(len(examples), len(frames), squeeze=False, sharex=True, sharey="row")
    for row, example in zip(axes, examples, strict=True):
        for axis, frame in zip(row, frames, strict=True):
            axis.plot(
                spec.coordinates[0], example.truth[frame], color="black", linewidth=2.2, alpha=0.35, label="truth"
            )
            axis.plot(
                spec.coordinates[0], example.prediction[frame], color=COLOURS["model"], linewidth=1.1, label="model"
            )
        row[0].xaxis.set_major_locator(MaxNLocator(4, prune="upper"))  # the last label would run into the next picture
        row[0].set_ylabel(f"sample {example.sample}\nu")
    for axis, frame in zip(axes[0], frames, strict=True):
        axis.set_title(f"t = {spec.times[frame]:.2f}")
    for axis in axes[-1]:
        axis.set_xlabel("position x")
    lines, names = axes[0][0].get_legend_handles_labels()
    figure.legend(lines, names, loc="outside upper right", ncols=2)
    return figure


def error_over_time(numbers: Mapping[str, Any]) -> Figure:
    """Returns the nRMSE of a rollout over time, beside persistence and the autoencoder's floor."""
    several = len(numbers["rollout"]["nrmse_by_time"]) > 3
    names = {"model": "operator alone" if several else "rollout", "persistence": "persistence"}
    names["autoencoder"] = "autoencoder alone"
    figure = Figure(figsize=(6.4, 4.0), layout="constrained")
    axis = figure.subplots()
    for name, values in numbers["rollout"]["nrmse_by_time"].items():
        shown = [np.nan if value is None else value for value in values]
        dashes = "--" if name == "autoencoder" else ":" if name.endswith("_ensemble") else "-"
        label = names.get(name, name.replace("_", ", "))
        axis.plot(numbers["rollout"]["times"], shown, dashes, color=COLOURS[name], linewidth=1.8, label=label)
    axis.set(xlabel="time t", ylabel="nRMSE", yscale="log", title=_headline(numbers))
    axis.grid(visible=True, which="both", alpha=0.2)
    axis.legend(loc="best")
    return figure


def ensembles(found: Mapping[str, Any]) -> Figure:
    """Returns the rank histogram of each ensemble: flat where the spread is what the error is."""
    figure = Figure(figsize=(3.0 * len(found) + 0.6, 3.0), layout="constrained")
    axes = figure.subplots(1, len(found), squeeze=False, sharey=True)[0]
    for axis, (name, one) in zip(axes, found.items(), strict=True):
        shares = one["rank_histogram"]
        axis.bar(range(len(shares)), shares, color=COLOURS[name.split(",")[0]], width=0.9)
        axis.axhline(1 / len(shares), color="black", linewidth=0.8, linestyle="--")
        axis.set(xlabel="members below the truth", title=f"{name}\nspread / skill {one['spread_skill']:.2f}")
        axis.xaxis.get_major_locator().set_params(integer=True)
    axes[0].set_ylabel("share of points")
    return figure


def learning_curves(records: Records) -> Figure:
    """Returns training loss and validation nRMSE over the epochs, one stage a row."""
    epochs = [record for record in records if record.get("kind") == "epoch"]
    stages = list(dict.fromkeys(record["stage"] for record in epochs))
    figure = Figure(figsize=(9.0, 2.7 * len(stages) + 0.4), layout="constrained")
    axes = figure.subplots(len(stages), 2, squeeze=False)
    for row, stage in zip(axes, stages, strict=True):
        mine = [record for record in epochs if record["stage"] == stage]
        number = [record["epoch"] + 1 for record in mine]
        row[0].plot(number, [record["train_loss"] for record in mine], color="#5c6670", marker=".")
        row[0].set(ylabel="training loss", title=stage)
        errors = [record["validation_nrmse"] for record in mine]
        row[1].plot(number, errors, color=COLOURS["model"], marker=".")
        best = int(np.argmin(errors))
        row[1].plot(number[best], errors[best], "o", color="#b3541e", label=f"best: {errors[best]:.2e}")
        row[1].set(ylabel="validation nRMSE", title=stage)
        row[1].legend(loc="upper right")
        for axis, values in zip(row, ([record["train_loss"] for record in mine], errors), strict=True):
            # Latents that are exact reconstruct with no error at all.
            axis.set(xlabel="epoch", yscale="log" if max(values) > 0 else "linear")
            axis.xaxis.get_major_locator().set_params(integer=True)
            axis.grid(visible=True, which="both", alpha=0.2)
    return figure


def _headline(numbers: Mapping[str, Any]) -> str:
    parameters = ", ".join(f"{name} = {value:g}" for name, value in numbers["parameters"].items())
    return f"{numbers['task']}, {parameters}: {numbers['split']} split, {' x '.join(map(str, numbers['grid']))} cells"


def _edges(centres: np.ndarray) -> tuple[float, float]:
    half = (centres[1] - centres[0]) / 2 if len(centres) > 1 else 0.5
    return float(centres[0] - half), float(centres[-1] + half)


def _reach(error: np.ndarray) -> float:
    found = error[np.isfinite(error)]
    return float(np.abs(found).max()) or 1e-12 if found.size else 1.0


def _save(figure: Figure, path: Path) -> Path:
    FigureCanvasAgg(figure)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path)
    except OSError as error:
        raise from_os_error(error, action="cannot write the picture", path=path) from error
    return path
