"""The command line `ups`: one file of ups/commands a command, guarded like the doctor's."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from diagnostics.cli import guarded

if TYPE_CHECKING:
    import click


def main() -> None:
    """Runs `ups`."""
    sys.exit(guarded(trainer, "ups"))


def trainer() -> click.Group:
    """Returns the command line as a click group."""
    import click

    from diagnostics.command_folder import CommandFolder
    from ups import commands

    group = CommandFolder(
        commands,
        name="ups",
        help="Trains neural surrogates of PDEs: data, training on many ranks, evaluation.",
        epilog="Exit codes: 0 done, 1 failed, 2 wrong use or configuration, 128+N ended by signal N.",
    )
    return click.version_option(package_name="ups-doctor")(group)
