"""Pictures of the steps: a bar a rank, how long steps take, and who waits over time. Drawn where matplotlib is."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from diagnostics.dynamic.steps.split import waited_s
from diagnostics.dynamic.steps.table import LABELS, phases_of
from diagnostics.perf.answer import PerfAnswer
from diagnostics.record.step_timings import Phase

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLOURS = {
    Phase.DATA: "#d98a1f", Phase.FORWARD: "#0b5fa5", Phase.BACKWARD: "#5a9bd4", Phase.COLLECTIVE: "#b3352b",
    Phase.OPTIMIZER: "#2f7f5f", Phase.CHECKPOINT: "#8a5aa5", Phase.EVALUATION: "#7f7f3f", Phase.OTHER: "#8b949e",
}  # fmt: skip
RANK_COLOURS = ("#0b5fa5", "#b3352b", "#2f7f5f", "#d98a1f", "#8a5aa5", "#5a9bd4", "#7f7f3f", "#8b949e")
STYLE: dict[Any, Any] = {
    "font.size": 10, "axes.titlesize": 11, "axes.spines.top": False, "axes.spines.right": False,
    "legend.frameon": False, "savefig.dpi": 150, "svg.hashsalt": "ups-doctor",
}  # fmt: skip
SHOWN_RANKS = 16
MISSING = "no pictures: they are drawn with matplotlib, which this Python lacks (pip install matplotlib)"


def draw(answer: PerfAnswer, folder: Path) -> tuple[list[str], str]:
    """Writes the pictures as SVG and PNG; returns the names of the PNGs, and why there are none. Raises OSError."""
    try:
        import matplotlib as mpl
        from matplotlib.backends.backend_agg import FigureCanvasAgg
    except ImportError:
        return [], MISSING
    with mpl.rc_context(STYLE):
        figures = {"steps_by_rank": _bars(answer), "step_times": _histogram(answer), "waits_over_time": _waits(answer)}
        for name, figure in figures.items():
            FigureCanvasAgg(figure)
            for ending in ("svg", "png"):
                figure.savefig(folder / f"{name}.{ending}")
    return [f"{name}.png" for name in figures], ""


def _figure(height: float) -> Figure:
    from matplotlib.figure import Figure

    return Figure(figsize=(8.0, height), layout="constrained")


def _bars(answer: PerfAnswer) -> Figure:
    """Returns one stacked bar a rank, of its average step."""
    ranks = answer.view.splits[:SHOWN_RANKS]
    figure = _figure(1.6 + 0.42 * len(ranks))
    axis = figure.subplots()
    names, left = [f"rank {one.rank}" for one in ranks], [0.0] * len(ranks)
    for phase in phases_of(ranks):
        values = [1e3 * one.seconds(phase) for one in ranks]
        axis.barh(names, values, left=left, height=0.66, color=COLOURS[phase], label=LABELS[phase])
        left = [before + value for before, value in zip(left, values, strict=True)]
    axis.invert_yaxis()
    axis.set(xlabel="ms of an average step (host times)", title="Where the time of a step goes")
    axis.tick_params(axis="y", length=0)
    figure.legend(loc="outside lower center", ncols=4)
    return figure


def _histogram(answer: PerfAnswer) -> Figure:
    """Returns how often a step takes how long; steps beyond the 99th percentile share the last bin."""
    steps = [1e3 * step.wall_s for step in answer.view.splits[0].of.steps]
    low, high = min(steps), sorted(steps)[int(0.99 * (len(steps) - 1))]
    figure = _figure(3.2)
    axis = figure.subplots()
    axis.hist([min(step, high) for step in steps], bins=40, range=(low, max(high, low * 1.001)), color="#5a9bd4")
    middle = 1e3 * answer.view.splits[0].of.wall_s
    axis.axvline(middle, color="#b3352b", linewidth=1.4, label=f"median {middle:.3g} ms")
    axis.set(xlabel=f"ms of a step, rank {answer.view.splits[0].rank}", ylabel="steps", title="How long steps take")
    axis.legend(loc="upper right")
    return figure


def _waits(answer: PerfAnswer) -> Figure:
    """Returns what each rank waits for others, step by step."""
    figure = _figure(3.2)
    axis = figure.subplots()
    for number, one in enumerate(answer.view.splits[: len(RANK_COLOURS)]):
        steps = [step.number for step in one.of.steps]
        waits = [1e3 * waited_s(one, step) for step in one.of.steps]
        axis.plot(steps, waits, color=RANK_COLOURS[number], linewidth=1.0, label=f"rank {one.rank}")
    axis.set(xlabel="step", ylabel="ms waited for other ranks", title="Who waits, step by step", ylim=(0, None))
    if answer.view.splits:
        figure.legend(loc="outside right upper")
    return figure
