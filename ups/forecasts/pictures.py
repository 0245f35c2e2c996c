"""A prediction as a picture and, where it goes on in time, as an animation, beside the truth of its data file."""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.animation import FuncAnimation, PillowWriter
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from ups.data import hdf5
from ups.data.fields import FieldReader, FieldSpec
from ups.errors import from_os_error
from ups.plots import COLOURS, ERROR_MAP, FIELD_MAP, STYLE

FRAMES_A_SECOND, MOST_FRAMES = 10, 60


def draw(path: Path, spec: FieldSpec) -> list[Path]:
    """Writes pictures of the first sample of a prediction beside it; returns their paths. Raises UpsError."""
    with hdf5.reading(path) as file:
        sample = int(file.attrs["samples"][0])
        predicted = np.asarray(file["tensor"][0])
        spread = np.asarray(file["spread"][0]) if "spread" in file else None
    if spec.channels > 1:  # the first species is shown
        predicted, spread = predicted[..., 0], None if spread is None else spread[..., 0]
    reader = FieldReader(spec)
    steady = spec.kind == "steady"
    truth = reader.field(sample, "u")[None, ..., 0] if steady else reader.frames(sample, 0, spec.frames)[..., 0]
    reader.close()
    with mpl.rc_context(STYLE):
        figure = _fields(sample, predicted, truth, spread, spec)
        FigureCanvasAgg(figure)
        made = [path.with_suffix(".png")]
        try:
            figure.savefig(made[0])
            if not steady:
                made.append(path.with_suffix(".gif"))
                _animated(sample, predicted, truth, spread, spec).save(made[1], writer=PillowWriter(FRAMES_A_SECOND))
        except OSError as error:
            raise from_os_error(error, action="cannot write the picture", path=made[-1]) from error
    return made


def _fields(
    sample: int, predicted: np.ndarray, truth: np.ndarray, spread: np.ndarray | None, spec: FieldSpec
) -> Figure:
    """Returns prediction, truth and difference, and the spread: the last frame in two dimensions, all in one."""
    flat = len(spec.grid) == 1
    shown = {"prediction": predicted, "truth": truth, "prediction - truth": predicted - truth}
    if spread is not None:
        shown["spread of members"] = spread
    figure = Figure(figsize=(3.2 * len(shown), 3.1), layout="constrained")
    low, high = float(truth.min()), float(truth.max())
    for axis, (name, values) in zip(figure.subplots(1, len(shown)), shown.items(), strict=True):
        image = values if flat else values[-1]
        if " - " in name:
            reach = float(np.abs(image).max()) or 1.0
            scale = {"cmap": ERROR_MAP, "vmin": -reach, "vmax": reach}
        else:
            scale = {"cmap": FIELD_MAP} | ({} if name.startswith("spread") else {"vmin": low, "vmax": high})
        extent = (0, 1, float(spec.times[0]), float(spec.times[-1])) if flat else (0, 1, 0, 1)
        drawn = axis.imshow(image if flat else image.T, origin="lower", aspect="auto", extent=extent, **scale)
        axis.set(title=name, xlabel="position x", ylabel="time t" if flat else "position y")
        figure.colorbar(drawn, ax=axis)
    figure.suptitle(f"{spec.task}, sample {sample}" + ("" if flat or spec.kind == "steady" else ", last frame"))
    return figure


def _animated(
    sample: int, predicted: np.ndarray, truth: np.ndarray, spread: np.ndarray | None, spec: FieldSpec
) -> FuncAnimation:
    figure = Figure(figsize=(6.4, 3.6), layout="constrained", dpi=80)
    FigureCanvasAgg(figure)
    flat = len(spec.grid) == 1
    every = max(1, len(predicted) // MOST_FRAMES)
    axes = [figure.subplots()] if flat else list(figure.subplots(1, 2))
    low, high = float(min(truth.min(), predicted.min())), float(max(truth.max(), predicted.max()))

    def show(frame: int) -> list[Axes]:
        for axis in axes:
            axis.clear()
        title = f"{spec.task}, sample {sample}, t = {spec.times[frame]:.2f}"
        if not flat:
            for axis, name, field in zip(axes, ("prediction", "truth"), (predicted, truth), strict=True):
                axis.imshow(field[frame].T, origin="lower", extent=(0, 1, 0, 1), cmap=FIELD_MAP, vmin=low, vmax=high)
                axis.set(title=name, xlabel="position x", ylabel="position y")
            figure.suptitle(title)
            return axes
        x, axis = spec.coordinates[0], axes[0]
        axis.plot(x, truth[frame], color="black", linewidth=2.2, alpha=0.35, label="truth")
        axis.plot(x, predicted[frame], color=COLOURS["model"], linewidth=1.3, label="prediction")
        if spread is not None:
            band = predicted[frame] - 2 * spread[frame], predicted[frame] + 2 * spread[frame]
            axis.fill_between(x, *band, color=COLOURS["model"], alpha=0.2, linewidth=0, label="2 spreads of members")
        margin = 0.05 * (high - low)
        axis.set(xlim=(0, 1), ylim=(low - margin, high + margin), xlabel="position x", ylabel="u", title=title)
        axis.legend(loc="upper right")
        return axes

    return FuncAnimation(figure, show, frames=range(0, len(predicted), every))
