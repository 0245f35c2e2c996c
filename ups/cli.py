"""The command line `ups`: one file of ups/commands a command, guarded like the doctor's."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from diagnostics.api import guarded, leave

if TYPE_CHECKING:
    import click

EXTRA = ("h5py", "matplotlib", "scipy", "tensorboard", "torch")  # what the extra `train` of pyproject.toml brings


def main(*, is_step: bool = False) -> None:
    """Runs `ups`; as a step of the pipeline, which says by itself what has stopped both."""
    leave(guarded(trainer, "ups", is_step=is_step))


def trainer() -> click.Group:
    """Returns the command line as a click group."""
    import click

    from diagnostics.api import CommandFolder
    from ups import commands
    from ups.errors import UpsError

    class Commands(CommandFolder):
        """The trainer's commands; the doctor alone may be installed, without what they need."""

        def invoke(self, ctx: click.Context) -> Any:
            """Runs a command. Raises UpsError naming the package of the extra `train` that is not there."""
            try:
                return super().invoke(ctx)
            except ModuleNotFoundError as error:
                if error.name not in EXTRA:
                    raise
                raise UpsError(
                    f"this command needs {error.name}, and {sys.executable} has none: the doctor alone is installed",
                    hint=f"{sys.executable} -m pip install 'ups-doctor[train]'   # a torch that is there is kept",
                ) from error

    group = Commands(
        commands,
        name="ups",
        help="Trains neural surrogates of PDEs: data, training on many ranks, evaluation.",
        epilog="Exit codes: 0 done, 1 failed, 2 wrong use or configuration, 128+N ended by signal N.",
    )
    return click.version_option(package_name="ups-doctor")(group)
