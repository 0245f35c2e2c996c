"""ups data generate|info|convert: data files in PDEBench's layout."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import click

from diagnostics.api import PathArgument
from ups.config import DataConfig, GenerateConfig, load_config
from ups.errors import ConfigError

PATH = PathArgument()
SET = click.option("--set", "overrides", multiple=True, metavar="KEY=VALUE", help="Override a key: data.parameter=0.1.")


@click.group(name="data")
def command() -> None:
    """Generate, look into and convert data files in PDEBench's layout."""


@command.command()
@click.argument("task", required=False)
@click.option("--config", type=PATH, help="Make what this configuration's data section needs.")
@SET
@click.option("--samples", type=int, help="Samples (trajectories, or pairs of a and u).")
@click.option("--resolution", type=int, help="Cells along each axis.")
@click.option("--frames", type=int, help="Saved frames, time series only.")
@click.option("--end-time", type=float, help="Time of the last frame, PDEBench: 2.")
@click.option("--seed", type=int, help="Seed; one seed, one file.")
@click.option(
    "--mode", type=click.Choice(["clean", "pdebench"]), help="Darcy: sparse solve, or as PDEBench at t = 1.75."
)
@click.option("--parameter", type=float, help="Advection speed beta, viscosity nu, Darcy forcing beta.")
@click.option("--root", type=PathArgument("new folder"), help="Folder of the file.")
@click.option(
    "--jobs", type=click.IntRange(min=1), help="Processes; the file does not depend on it. Default: the cores."
)
@click.option("--overwrite", is_flag=True, help="Replace a file made with another recipe.")
def generate(
    task: str | None, config: Path | None, overrides: tuple[str, ...], jobs: int | None, overwrite: bool, **options: Any
) -> None:
    """Make the data file of TASK (advection1d, burgers1d, darcy2d, reacdiff2d, diffreact2d), or the one of --config."""
    from ups.data.fields import data_file, open_data
    from ups.data.generate import generate as make
    from ups.data.generate import stored_recipe
    from ups.data.recipe import recipe_for

    given = {name: value for name, value in options.items() if value is not None}
    data = _from_config(task, config, overrides, given) if config else _from_options(task, overrides, given)
    for one in [data.only(each) for each in data.tasks] or [data]:
        path = data_file(one)
        if config and path.exists() and stored_recipe(path) is None:
            open_data(one)  # a file from elsewhere is kept, and must fit the configuration
            click.echo(f"{path} is there already, from elsewhere; it is left as it is")
            continue
        recipe = recipe_for(one)
        with _Bar(path.name, recipe.samples) as bar:
            made = make(
                recipe, path, jobs=jobs or len(os.sched_getaffinity(0)), overwrite=overwrite, progress=bar.update
            )
        size = path.stat().st_size / 2**20
        done = f"{path}: {recipe.samples} samples, {size:.1f} MiB"
        click.echo(done if made else f"{path} is there already, same recipe")


@command.command()
@click.argument("file", type=PathArgument("file"), required=False)
@click.option("--config", type=PATH, help="The data file of this configuration.")
@SET
@click.option("--full", is_flag=True, help="Look at every value for range and NaN, not at the first 64 MiB.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def info(file: Path | None, config: Path | None, overrides: tuple[str, ...], full: bool, as_json: bool) -> None:
    """Say what is in FILE: shapes, types, range, values that are not finite."""
    if (file is None) == (config is None):
        raise ConfigError("name either a FILE or a --config", hint="ups data info --help")
    from ups.data.fields import data_file
    from ups.data.info import describe

    path = file or data_file(load_config(config, overrides).data)  # type: ignore[arg-type]  # one of the two is there
    facts = describe(path, full=full)
    click.echo(json.dumps(facts, indent=2) if as_json else "\n".join(_lines(facts)))


@command.command()
@click.argument("sources", type=PathArgument("file"), nargs=-1)
@click.option("--task", required=True, help="burgers1d or darcy2d.")
@click.option("--root", type=PathArgument("new folder"), required=True, help="Folder for the converted file.")
@click.option("--parameter", type=float, help="PDEBench's Nu or beta. Default: pi times `visc`; 1 for Darcy.")
@click.option("--end-time", type=float, default=1.0, show_default=True, help="Time of the last frame.")
@click.option(
    "--permeability", type=float, nargs=2, default=(0.0, 1.0), show_default=True, help="What false and true stand for."
)
@click.option("--overwrite", is_flag=True, help="Replace the converted file.")
def convert(sources: tuple[Path, ...], task: str, root: Path, overwrite: bool, **options: Any) -> None:
    """Convert SOURCES (.pt files with `x` and `y`) into one PDEBench file; name the test data first."""
    from ups.data.convert import ConvertOptions
    from ups.data.convert import convert as write
    from ups.data.fields import open_spec

    path = write(sources, task, root, ConvertOptions(**options), overwrite=overwrite)
    spec = open_spec(path, task=task)
    told = ", ".join(f"{name} = {value:g}" for name, value in spec.parameters.items())
    click.echo(f"{path}: {spec.samples} samples, {spec.frames} frames, grid {spec.grid}, {told}")


def _from_config(task: str | None, config: Path, overrides: tuple[str, ...], given: dict[str, Any]) -> DataConfig:
    if task or given:
        what = ", ".join(["TASK"] * bool(task) + [f"--{name.replace('_', '-')}" for name in given])
        raise ConfigError(f"{what} cannot stand beside --config", hint="change single keys with --set data.KEY=VALUE")
    return load_config(config, overrides).data


def _from_options(task: str | None, overrides: tuple[str, ...], given: dict[str, Any]) -> DataConfig:
    from ups.data.pde.equations import equation

    if not task or overrides:
        raise ConfigError("name a TASK or a --config; --set needs --config", hint="ups data generate --help")
    timed = [f"--{name.replace('_', '-')}" for name in ("frames", "end_time") if name in given]
    if equation(task).KIND == "steady" and timed:
        raise ConfigError(f"{task} has no time: leave out {', '.join(timed)}")
    outer = {name: given.pop(name) for name in ("parameter", "root") if name in given}
    return DataConfig(task=task, generate=GenerateConfig(**given), **outer)  # type: ignore[arg-type]  # checked above


def _lines(facts: dict[str, Any]) -> list[str]:
    lines = [f"{facts['path']}  {facts['bytes'] / 2**20:.1f} MiB"]
    lines += [f"  {name} = {value}" for name, value in facts["attributes"].items()]
    for name, item in facts["datasets"].items():
        layout = f"chunks {tuple(item['chunks'])}" if item["chunks"] else "contiguous"
        memory = f"{item['memory_bytes'] / 2**20:.1f} MiB in memory"
        lines.append(f"  {name:14} {item['dtype']} {tuple(item['shape'])}, {layout}, {memory}")
        if item["looked_at"]:
            finite = f"{item['not_finite']} not finite" + (
                f", first at {item['first_not_finite']}" * bool(item["not_finite"])
            )
            span = "none finite" if item["min"] is None else f"{item['min']:.6g} to {item['max']:.6g}"
            lines.append(f"  {'':14} {span}; {finite}; {item['looked_at']} values looked at")
    return lines


class _Bar:
    """A progress bar on stderr, only on a terminal."""

    def __init__(self, name: str, total: int) -> None:
        from rich.console import Console
        from rich.progress import Progress

        console = Console(stderr=True)
        self._bar = Progress(console=console, transient=True, disable=not console.is_terminal)
        self._task = self._bar.add_task(name, total=total)

    def __enter__(self) -> _Bar:
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def update(self, done: int) -> None:
        self._bar.update(self._task, completed=done)
