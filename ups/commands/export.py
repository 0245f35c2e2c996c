"""ups export RUN|CHECKPOINT OUT.pt: a sharded checkpoint as one plain torch file."""

from __future__ import annotations

from pathlib import Path

import click

from diagnostics.api import PathArgument
from ups.errors import ConfigError


@click.command(name="export")
@click.argument("checkpoint", type=PathArgument("any"))
@click.argument("out", type=PathArgument())
def command(checkpoint: Path, out: Path) -> None:
    """Write CHECKPOINT, or the newest good one of a run, into OUT: plain tensors, read by torch.load alone."""
    if out.exists():
        raise ConfigError(f"{out} is there already, and nothing is overwritten")
    from ups import checkpoint as files
    from ups.checkpointing.export import content_of

    content = content_of(checkpoint)
    size = files.save(out, content)
    position = content["position"]
    click.echo(
        f"{out}: stage {content['stage']}, step {position['step']}, {len(content['model'])} weights, {size} bytes"
    )
