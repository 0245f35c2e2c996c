"""ups cache build|info: the latent cache by itself, outside of a run."""

from __future__ import annotations

from pathlib import Path

import click

from ups.config import load_config

SET = click.option(
    "--set", "overrides", multiple=True, metavar="KEY=VALUE", help="Override a key: cache.dir=/dev/shm/x."
)


@click.group(name="cache")
def command() -> None:
    """Build the latent cache of a trained autoencoder, or say what a cache holds."""


@command.command()
@click.argument("config", type=click.Path(path_type=Path))
@SET
@click.option("--rebuild", is_flag=True, help="Replace a cache that belongs to another encoder or configuration.")
def build(config: Path, overrides: tuple[str, ...], rebuild: bool) -> None:
    """Encode the data of CONFIG with the autoencoder in its output.dir."""
    loaded = load_config(config, overrides)
    import torch

    from ups.cache_build import ensure_cache
    from ups.data.normalisation import Normalisation
    from ups.distributed import alone
    from ups.pipeline import trained_autoencoder
    from ups.run_folder import RunFolder
    from ups.stages.material import gather

    torch.set_num_threads(loaded.training.threads_per_rank)
    folder = RunFolder(loaded.output.dir)
    state = trained_autoencoder(folder)
    material = gather(loaded, lambda compute: Normalisation.load(folder.normalisation))
    done = ensure_cache(loaded, material, state, alone(), rebuild=rebuild)
    click.echo(f"latent cache {done} in {loaded.cache_dir}")


@command.command()
@click.argument("config", type=click.Path(path_type=Path))
@SET
def info(config: Path, overrides: tuple[str, ...]) -> None:
    """Say what the cache of CONFIG was made from."""
    folder = load_config(config, overrides).cache_dir
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
