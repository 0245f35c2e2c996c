"""A click group whose commands are the files of a package: `scan_cache.py` with its `command` is `scan-cache`.

Only the file of the command that was asked for is imported, so that one command's needs slow down no other; the list
of all is read from their sources.
"""

from __future__ import annotations

import ast
import importlib
import importlib.util
import pkgutil
import signal
import sys
from types import ModuleType
from typing import Any

import click

from diagnostics.core.spelling import nearest
from diagnostics.imports import without_garbage_collection


class CommandFolder(click.Group):
    """The commands of one package."""

    def __init__(self, package: ModuleType, *, name: str, help: str, epilog: str = "") -> None:  # noqa: A002 - click's name
        super().__init__(name=name, help=help, epilog=epilog, no_args_is_help=True)
        self.package = package

    def invoke(self, ctx: click.Context) -> Any:
        """Runs a command; where its reader has gone the code is that of SIGPIPE, and not click's 1 ("errors found")."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError as error:
            raise click.exceptions.Exit(128 + signal.SIGPIPE) from error

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Returns the command names, from the file names."""
        return sorted(info.name.replace("_", "-") for info in pkgutil.iter_modules(self.package.__path__))

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Returns the command of one file; None where there is no such file, or it holds no command."""
        if cmd_name not in self.list_commands(ctx):
            return None
        name = self._module(cmd_name)
        if name not in sys.modules:
            with without_garbage_collection():
                importlib.import_module(name)
        module = sys.modules[name]
        command: click.Command | None = getattr(module, "command", None)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Writes each command with its first sentence, whole; click would cut it where the line ends."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, self._first_sentence(ctx, name)) for name in self.list_commands(ctx)])

    def _module(self, name: str) -> str:
        return f"{self.package.__name__}.{name.replace('-', '_')}"

    def _first_sentence(self, ctx: click.Context, name: str) -> str:
        """Returns what the function `command` of a file says first of itself, without importing it."""
        spec = importlib.util.find_spec(self._module(name))
        source = getattr(spec.loader, "get_source", lambda _: None)(spec.name) if spec is not None else None
        for node in ast.parse(source or "").body:
            if isinstance(node, ast.FunctionDef) and node.name == "command":
                return " ".join((ast.get_docstring(node) or "").partition("\n\n")[0].split())
        command = self.get_command(ctx, name)  # made in another way, or there is no source
        return command.get_short_help_str(limit=1000) if command is not None else ""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Finds the command, or says which one is nearest."""
        name = str(args[0])
        if not name.startswith("-") and self.get_command(ctx, name) is None:
            known = self.list_commands(ctx)
            raise click.UsageError(f"no command '{name}'{nearest(name, known)} (commands: {', '.join(known)})", ctx)
        return super().resolve_command(ctx, args)


class ScriptCommand(click.Command):
    """Takes everything behind --script as it stands, options of the script included."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Hands each word behind --script to that option."""
        ctx.meta["arguments"] = list(args)
        if "--script" in args:
            place = args.index("--script")
            words = args[place + 1 :]
            if not words:
                raise click.UsageError("--script needs your launch line, for example: --script train.py --epochs 1")
            args = args[:place] + [f"--script={word}" for word in words]
        return super().parse_args(ctx, args)
