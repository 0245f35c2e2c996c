"""ups evaluate CKPT: errors in physical units as table and JSON, and pictures, from best.pt and the data alone."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from diagnostics.api import PathArgument
from ups.errors import ConfigError, from_os_error
from ups.run_folder import write_atomically

if TYPE_CHECKING:  # torch and matplotlib are imported when the command runs, not for --help
    from ups.evaluate import Evaluation

NAMES = {
    "model": "model",
    "diffusion": "diffusion",
    "diffusion_ensemble": "  mean of members",
    "consistency": "consistency",
    "consistency_ensemble": "  mean of members",
    "steady": "steady",
    "persistence": "persistence",
    "mean_field": "mean field",
    "autoencoder": "autoencoder alone",
}
WIDE = 110  # columns of the comparison, whose names may be long
SIDE_BY_SIDE = 4  # models
FEW = ("nRMSE", "max", "fRMSE_low", "fRMSE_mid", "fRMSE_high")


@click.command(name="evaluate")
@click.argument("checkpoints", nargs=-1, required=True, metavar="CHECKPOINT...", type=PathArgument("file"))
@click.option("--data", type=PathArgument("file"), help="Another file of the same problem and grid.")
@click.option("--split", type=click.Choice(["train", "validation", "test", "all"]), default="test", show_default=True)
@click.option("--samples", type=int, help="Take this many samples of the split; default: all of it.")
@click.option("--out", type=PathArgument("new folder"), help="Where evaluation.json and plots/ go; default: the run.")
@click.option("--task", default="", help="Of a checkpoint of several problems: this one.")
@click.option("--json", "as_json", is_flag=True, help="Print the numbers as JSON.")
def command(
    checkpoints: tuple[Path, ...],
    data: Path | None,
    split: Any,
    samples: int | None,
    out: Path | None,
    task: str,
    as_json: bool,
) -> None:
    """Compare CHECKPOINT (a best.pt) with the truth: one step, rollout, and what needs no training.

    Several checkpoints of one problem are compared with each other, in one table and one picture.
    """
    from ups.plots import draw
    from ups.tracking.jsonl import read

    if len(checkpoints) > 1:
        folder = out if out is not None else Path("reports/comparison")
        _compare(checkpoints, data, split, samples, task, folder, as_json)
        return
    (checkpoint,) = checkpoints
    folder = out if out is not None else _run_folder(checkpoint) / (f"tasks/{task}" if task else "")
    evaluation = _evaluate(checkpoint, data, split, samples, task, folder)
    text = json.dumps(evaluation.numbers, indent=2) + "\n"
    _write(folder / "evaluation.json", text)
    metrics = _run_folder(checkpoint) / "metrics.jsonl"
    pictures = draw(evaluation, read(metrics) if metrics.is_file() else [], folder / "plots")
    if as_json:
        click.echo(text, nl=False)
        return
    _show(evaluation.numbers)
    click.echo(f"numbers   {folder / 'evaluation.json'}")
    click.echo(f"pictures  {folder / 'plots'}: {', '.join(path.name for path in pictures)}")


def _compare(
    checkpoints: Sequence[Path],
    data: Path | None,
    split: Any,
    samples: int | None,
    task: str,
    folder: Path,
    as_json: bool,
) -> None:
    from ups.forecasts.comparison import compared, draw

    names = [str(path) for path in checkpoints]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise ConfigError(f"{twice} is named twice")
    shown = dict(zip(names, _short(names), strict=True))
    found = {shown[name]: _evaluate(Path(name), data, split, samples, task, folder).numbers for name in names}
    rows = compared(found)
    first = next(iter(found.values()))
    title = f"{first['task']}, {first['split']} split, {first['samples']} samples"
    text = json.dumps({"rows": rows, "evaluations": found}, indent=2) + "\n"
    _write(folder / "comparison.json", text)
    picture = draw(rows, title, folder / "comparison.png")
    if as_json:
        click.echo(text, nl=False)
        return
    table = Table(box=None, padding=(0, 2, 0, 0))
    for head in ("", "nRMSE", "rollout", "low", "mid", "high", "weights", "ms"):
        table.add_column(head, justify="right" if head else "left", no_wrap=True)
    for row in rows:
        errors = (row[key] for key in ("nRMSE", "rollout_nRMSE", "fRMSE_low", "fRMSE_mid", "fRMSE_high"))
        weights, seconds = row["parameters"], row["seconds_a_step"]
        cost = "-" if weights is None else str(weights), "-" if seconds is None else f"{1e3 * seconds:.2f}"
        table.add_row(row["name"], *(_number(value, 2) for value in errors), *cost)
    console = Console(highlight=False)
    console.print(title, table, sep="\n", width=max(console.width, WIDE))
    click.echo(f"numbers  {folder / 'comparison.json'}")
    click.echo(f"picture  {picture}")


def _short(names: Sequence[str]) -> list[str]:
    """Returns the names without what all of them begin with, and without their ending."""
    folders = [Path(name).resolve().with_suffix("").parts for name in names]
    common = 0
    while len({parts[: common + 1] for parts in folders}) == 1:
        common += 1
    return ["/".join(part for part in parts[common:] if part != "checkpoints") for parts in folders]


def _write(path: Path, text: str) -> None:
    try:
        write_atomically(path, text.encode())
    except OSError as error:
        raise from_os_error(error, action="cannot write the evaluation", path=path) from error


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise from_os_error(error, action="cannot write the evaluation", path=folder) from error


def _evaluate(
    checkpoint: Path, data: Path | None, split: Any, limit: int | None, problem: str, out: Path
) -> Evaluation:
    import torch

    from ups.checkpoint import load_best
    from ups.evaluate import check_limit, chosen_samples, evaluate, open_for

    check_limit(limit)
    best = load_best(checkpoint, problem)
    spec = open_for(best, data)
    samples = chosen_samples(best, spec, split, limit)
    _make(out)  # before the work, which could not be kept elsewhere
    torch.set_num_threads(best.config.training.threads_per_rank)  # more of them wait for each other on busy cores
    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task("evaluating", total=len(samples))
        return evaluate(best, spec, samples, split, lambda done, _: progress.update(task, completed=done))


def _run_folder(checkpoint: Path) -> Path:
    """Returns the run a checkpoint belongs to, the folder above checkpoints/: relative where the checkpoint was."""
    folder = checkpoint.resolve().parent
    folder = folder.parent if folder.name == "checkpoints" else folder
    inside = not checkpoint.is_absolute() and folder.is_relative_to(Path.cwd())
    return folder.relative_to(Path.cwd()) if inside else folder


def _show(numbers: Mapping[str, Any]) -> None:
    console = Console(highlight=False)
    title = f"{numbers['task']}, {numbers['split']} split, {numbers['samples']} samples"
    step = "a to u" if "rollout" not in numbers else f"one step of {numbers['time_step']:g}"
    console.print(f"{title}: {step}", _table(numbers["one_step"]), sep="\n")
    if "rollout" in numbers:
        rollout = numbers["rollout"]
        console.print(f"{title}: rollout over {rollout['steps']} steps", _table(rollout), sep="\n")


def _table(columns: Mapping[str, Any]) -> Table:
    shown = {name: values for name, values in columns.items() if name in NAMES}
    table = Table(box=None, padding=(0, 2, 0, 0) if len(shown) > SIDE_BY_SIDE else (0, 2))
    if len(shown) > SIDE_BY_SIDE:  # models below each other, the numbers that tell them apart beside each other
        for name in ("", *FEW):
            table.add_column(name, justify="right" if name else "left", no_wrap=True)
        for name, values in shown.items():
            called = "operator alone" if name == "model" else NAMES[name]
            table.add_row(called, *(_number(values[metric], 2) for metric in FEW))
        return table
    table.add_column("metric", width=10)
    for name in shown:
        called = "operator alone" if name == "model" and {"diffusion", "steady"} & shown.keys() else NAMES[name]
        table.add_column(called, justify="right")
    for metric in next(iter(shown.values())):
        table.add_row(metric, *(_number(values[metric]) for values in shown.values()))
    return table


def _number(value: float | None, digits: int = 3) -> str:
    return "-" if value is None else f"{value:.{digits}e}"
