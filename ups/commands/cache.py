"""ups cache build|repair|info: the latent cache by itself, outside of a run."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import click

from diagnostics.api import PathArgument
from ups.config import load_config
from ups.errors import naming

SET = click.option(
    "--set", "overrides", multiple=True, metavar="KEY=VALUE", help="Override a key: cache.dir=/dev/shm/x."
)
TASK = click.option("--task", default="", help="Where data.tasks names several problems: this one.")


def numbers(context: click.Context, option: click.Parameter, value: str | None) -> tuple[int, ...]:
    """Returns whole numbers with commas between them."""
    try:
        return tuple(int(word) for word in value.split(",")) if value else ()
    except ValueError:
        raise click.BadParameter(f"{value!r} is no list of numbers such as 3,17", context, option) from None


@click.group(name="cache")
def command() -> None:
    """Build or repair the latent cache of a trained autoencoder, or say what a cache holds."""


@command.command()
@click.argument("config", type=PathArgument())
@SET
@click.option("--rebuild", is_flag=True, help="Replace a cache that belongs to another encoder or configuration.")
def build(config: Path, overrides: tuple[str, ...], rebuild: bool) -> None:
    """Encode the data of CONFIG with the autoencoder in its output.dir."""
    loaded = load_config(config, overrides)
    import torch

    from ups.cache_build import ensure_cache
    from ups.data.several.problems import problems
    from ups.distributed import alone
    from ups.trained import trained_material

    torch.set_num_threads(loaded.training.threads_per_rank)
    with naming(config, overrides):
        for task, one in problems(loaded).items():
            state, material = trained_material(loaded, task)
            done = ensure_cache(one, material, state, alone(), rebuild=rebuild)
            click.echo(f"latent cache {done} in {one.cache_dir}")


@command.command()
@click.argument("config", type=PathArgument())
@SET
@TASK
@click.option("--samples", callback=numbers, metavar="N,N...", help="Also encode these again; counted as in the data.")
@click.option("--device", default="cpu", show_default=True, help="Where to encode: cpu, cuda, cuda:1.")
@click.option("--dry-run", is_flag=True, help="Say what is damaged and how long it takes; exit code 1 if anything is.")
@click.pass_context
def repair(
    context: click.Context,
    config: Path,
    overrides: tuple[str, ...],
    task: str,
    samples: tuple[int, ...],
    device: str,
    dry_run: bool,
) -> None:
    """Encode again only what is missing, cut off or damaged in the cache of CONFIG; of several problems in each."""
    loaded = load_config(config, overrides)
    from ups.cache_repair import Repair
    from ups.data.several.problems import problem, problems
    from ups.trained import trained_material

    # Numbers of samples are those of one problem's data.
    tasks = [task] if task or samples or not loaded.data.tasks else list(problems(loaded))
    damaged = 0
    with naming(config, overrides):
        for name in tasks:
            one = problem(loaded, name)
            state, material = trained_material(loaded, name)
            wanted = Repair(one, material, state, samples=samples, device=device)
            click.echo("\n".join(wanted.lines(wanted.seconds())))
            damaged += len(wanted.damage.kept)
            if not dry_run:
                wanted.run(_counting(wanted.damage.samples))
            if wanted.damage.kept and not dry_run:
                click.echo(f"repaired: all {len(wanted.manifest['files'])} files are as the manifest says")
    if dry_run:
        context.exit(int(bool(damaged)))


def _counting(of: int) -> Callable[[int], None]:
    """Returns what shows a count on a terminal."""
    if not sys.stderr.isatty():
        return lambda done: None
    return lambda done: click.echo(f"\r{done} of {of} encoded" + "\n" * (done == of), nl=False, err=True)


@command.command()
@click.argument("config", type=PathArgument())
@SET
@TASK
def info(config: Path, overrides: tuple[str, ...], task: str) -> None:
    """Say what the cache of CONFIG was made from."""
    from ups.data.several.problems import problem

    folder = problem(load_config(config, overrides), task).cache_dir
    from ups.data.latent_cache import read_manifest

    manifest = read_manifest(folder)
    samples = {split: len(numbers) for split, numbers in manifest["splits"].items()}
    rows = {
        "cache": folder,
        "task": manifest["task"],
        "data": f"{manifest['data']['file']}, {manifest['data']['bytes']} bytes",
        "strides": f"time {manifest['time_stride']}, space {manifest['space_stride']}",
        "samples": ", ".join(f"{split} {count}" for split, count in samples.items()),
        "dtype": manifest["dtype"],
        "layout": manifest["layout"],
        "encoder": manifest["encoder"],
        "normalisation": manifest["normalisation"],
        "files": _files(manifest["files"]),
    }
    for name, value in rows.items():
        click.echo(f"{name:<14}{value}")


def _files(sizes: dict[str, int]) -> str:
    """Returns each file with its size, of many only their number and the sum."""
    if len(sizes) > 8:
        return f"{len(sizes)} files, {sum(sizes.values()) / 1e6:.2f} MB"
    return ", ".join(f"{name} {size / 1e6:.2f} MB" for name, size in sizes.items())
