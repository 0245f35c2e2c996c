"""`ups-doctor lsp`: a language server that shows what `audit` finds while a file is edited."""

from __future__ import annotations

import click

from diagnostics.core.errors import UsageError


@click.command("lsp")
def command() -> None:
    """Speaks the Language Server Protocol over stdin and stdout: findings, quick fixes, and explanations on hover.

    Set it up in an editor as the command `ups-doctor lsp` for Python, shell, YAML, Dockerfiles and Makefiles. It needs
    pygls: pip install 'ups-doctor[lsp]'. An open file is audited with the files beside it and what they import, when
    it is opened or saved and when nothing was typed for a moment. It ends when the editor does.
    """
    try:
        from diagnostics.editor import server
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("pygls", "lsprotocol"):
            raise
        raise UsageError(
            f"the language server needs {error.name}, which is not installed", hint="pip install 'ups-doctor[lsp]'"
        ) from error
    server.serve()
