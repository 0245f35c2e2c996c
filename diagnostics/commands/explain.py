"""`ups-doctor explain CODE`: what a check, known failure or audit rule is, why it matters, the fix: its docstring."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from types import ModuleType

import click

from diagnostics import audit, diagnosis, preflight
from diagnostics.cache import folder_checks, formats
from diagnostics.core.console import say
from diagnostics.core.errors import UsageError
from diagnostics.core.registry import BrokenPlugin, discover
from diagnostics.core.spelling import nearest
from diagnostics.inspection import checks
from diagnostics.parity import hypotheses

PACKAGES = (preflight, formats, folder_checks, checks, hypotheses, diagnosis, audit)


@click.command("explain")
@click.argument("code", metavar="CODE", required=False)
@click.option("--list", "list_all", is_flag=True, help="List every code with its name and first line.")
def command(code: str | None, list_all: bool) -> None:
    """Explains one check, known failure or audit rule, by its code (P204, D201, A101) or its name (shared-memory).

    The name of a failure class (native-crash) explains all that lead to it.
    """
    plugins = all_plugins()
    if list_all:
        for known, module in plugins.items():
            say(f"{known}  {module.NAME}: {_doc(module).splitlines()[0]}")
        return
    if code is None:
        raise UsageError("explain needs a CODE", hint="list them: ups-doctor explain --list")
    of_class = [module for module in plugins.values() if getattr(module, "CLASS", None) == code.lower()]
    shown = of_class or [find(code, plugins)]
    say("\n\n".join(f"{module.CODE}  {module.NAME}\n\n{_doc(module)}" for module in shown))


def all_plugins() -> dict[str, ModuleType]:
    """Returns every plugin by code; a file that cannot be imported explains nothing."""
    broken: list[BrokenPlugin] = []
    return {code: module for package in PACKAGES for code, module in discover(package, broken=broken).items()}


def find(wanted: str, plugins: Mapping[str, ModuleType]) -> ModuleType:
    """Returns the plugin with this code or name, in any case. Raises UsageError with the nearest."""
    by_word = {
        **{module.NAME: module for module in plugins.values()},
        **{code.lower(): m for code, m in plugins.items()},
    }
    module = by_word.get(wanted.lower())
    if module is None:
        known = [*plugins, *(module.NAME for module in plugins.values())]
        raise UsageError(
            f"unknown code '{wanted}'{nearest(wanted, known)}", hint="list them: ups-doctor explain --list"
        )
    return module


def _doc(module: ModuleType) -> str:
    return inspect.cleandoc(module.__doc__ or "It has no description.")
