"""`ups-doctor completion SHELL`: what makes the shell complete commands, options and paths."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from diagnostics.core.console import say

FILES = {
    "bash": "~/.local/share/bash-completion/completions/ups-doctor",
    "zsh": "a folder of $fpath, as _ups-doctor",
    "fish": "~/.config/fish/completions/ups-doctor.fish",
}


@click.command("completion")
@click.argument("shell", type=click.Choice(tuple(FILES)))
@click.pass_context
def command(context: click.Context, shell: str) -> None:
    """Prints the completion of SHELL, for example: ups-doctor completion bash > FILE.

    FILE is ~/.local/share/bash-completion/completions/ups-doctor for bash, _ups-doctor in a folder of $fpath for zsh,
    ~/.config/fish/completions/ups-doctor.fish for fish. Exit code: 0 printed, 2 no such shell.
    """
    made = get_completion_class(shell)
    assert made is not None  # noqa: S101 - click has those of its own list
    group = context.find_root().command
    say(made(group, {}, "ups-doctor", "_UPS_DOCTOR_COMPLETE").source(), nl=False)
