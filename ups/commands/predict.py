"""ups predict CKPT DATA --out FILE.h5: what a trained checkpoint predicts, in PDEBench's layout, with pictures."""

from __future__ import annotations

from pathlib import Path

import click
from rich.console import Console
from rich.progress import Progress

from diagnostics.api import PathArgument
from ups.errors import ConfigError


@click.command(name="predict")
@click.argument("checkpoint", type=PathArgument("file"))
@click.argument("data", type=PathArgument("file"))
@click.option("--out", type=PathArgument(), required=True, help="The HDF5 file that is written; pictures go beside it.")
@click.option("--samples", type=int, help="Take the first so many samples; default: all.")
@click.option("--task", "problem", default="", help="Of a checkpoint of several problems: this one.")
@click.option("--correct", is_flag=True, help="Correct each step by the diffusion, or its student, of the checkpoint.")
@click.option("--members", type=int, default=0, metavar="K", help="The mean of K draws of it, and their spread.")
@click.option("--best-of", type=int, default=0, metavar="K", help="Of K draws the one that its equation likes best.")
@click.option("--seed", type=int, default=0, help="Of the draws.")
@click.option("--no-pictures", is_flag=True, help="Write the file alone.")
@click.option("--overwrite", is_flag=True, help="Replace the files that are there.")
def command(
    checkpoint: Path,
    data: Path,
    out: Path,
    samples: int | None,
    problem: str,
    correct: bool,
    members: int,
    best_of: int,
    seed: int,
    no_pictures: bool,
    overwrite: bool,
) -> None:
    """Predict with CHECKPOINT from what DATA begins with: rollouts to its times, or solutions of its coefficients."""
    pictures = () if no_pictures else (out.with_suffix(".png"), out.with_suffix(".gif"))
    if out in pictures:
        raise ConfigError(f"--out {out} is the HDF5 file, and its picture would have that name", hint="--out NAME.h5")
    for path in (out, *pictures):
        if path.exists() and not overwrite:
            raise ConfigError(f"{path} is there already", hint="replace it with --overwrite, or name another --out")
    import torch

    from ups.checkpoint import load_best
    from ups.evaluate import check_limit, chosen_samples, open_for
    from ups.forecasts import predict as forecasts

    best = load_best(checkpoint, problem)
    torch.set_num_threads(best.config.training.threads_per_rank)  # more of them wait for each other on busy cores
    if out.exists() and out.resolve() in (data.resolve(), checkpoint.resolve()):
        raise ConfigError(f"--out {out} is what the prediction is made from")
    wish = forecasts.Wish(correct=correct, members=members, best_of=best_of, seed=seed)
    stage = forecasts.stage_for(best, wish)
    check_limit(samples)
    spec = open_for(best, data)
    chosen = chosen_samples(best, spec, "all", samples)
    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task("predicting", total=len(chosen))
        forecasts.predict(best, spec, chosen, wish, out, lambda done: progress.update(task, completed=done))
    click.echo(f"{out}: {len(chosen)} samples by stage {stage} of {checkpoint}")
    if not no_pictures:
        from ups.forecasts.pictures import draw

        for path in draw(out, spec):
            click.echo(path)
