"""The language server: pygls speaks with the editor, open_file.py knows what to say."""

from __future__ import annotations

import asyncio
import io
import os
import select
import signal
import sys
import threading
from importlib.metadata import version
from pathlib import Path
from typing import Any

from lsprotocol import types
from pygls import uris
from pygls.lsp.server import LanguageServer

from diagnostics.audit.found import Found
from diagnostics.audit.rule import Edit
from diagnostics.core.errors import DoctorError
from diagnostics.core.findings import Severity
from diagnostics.editor.open_file import OpenFile, audited, edits_of, meaning

AFTER_TYPING_S = 0.4  # an audit begins when nothing was typed for so long
NAME = "ups-doctor"


def serve() -> None:
    """Speaks with an editor over stdin and stdout until it says exit or goes away.

    Raises KeyboardInterrupt where a signal asked to stop: pygls keeps it to itself.
    """
    # A copy: pygls closes what it writes to, and the command line still flushes the process's own.
    with os.fdopen(os.dup(sys.stdout.fileno()), "wb", closefd=True) as out, UntilSignal(sys.stdin.fileno()) as given:
        reader = io.BufferedReader(given)  # closes what it reads from when it goes
        made().start_io(reader, out)
        if given.is_stopped():
            raise KeyboardInterrupt


class UntilSignal(io.RawIOBase):
    """Reads a descriptor; a signal that the command line hears is its end.

    The thread that waits for the editor's next message is one that pygls waits for: it has to be woken.
    """

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self._woken, self._wakeup = os.pipe()
        os.set_blocking(self._wakeup, False)
        self._before = signal.set_wakeup_fd(self._wakeup, warn_on_full_buffer=False)

    def readable(self) -> bool:
        """It is."""
        return True

    def is_stopped(self) -> bool:
        """Whether a signal came."""
        return bool(select.select([self._woken], [], [], 0)[0])

    def readinto(self, buffer: Any) -> int:
        """Waits for what is there to be read, or for a signal; returns 0 at the end."""
        select.select([self._fd, self._woken], [], [])
        data = b"" if self.is_stopped() else os.read(self._fd, len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def close(self) -> None:
        """Gives back what wakes, and leaves the descriptor open."""
        if not self.closed:
            super().close()
            signal.set_wakeup_fd(self._before)
            os.close(self._woken)
            os.close(self._wakeup)


def made() -> LanguageServer:
    """Returns the server with all that it answers."""
    server = LanguageServer(NAME, version(NAME), text_document_sync_kind=types.TextDocumentSyncKind.Full)
    auditing = _Auditing(server)

    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    async def opened(given: types.DidOpenTextDocumentParams) -> None:
        await auditing.audit(given.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_DID_SAVE)
    async def saved(given: types.DidSaveTextDocumentParams) -> None:
        await auditing.audit(given.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    async def changed(given: types.DidChangeTextDocumentParams) -> None:
        await auditing.audit(given.text_document.uri, after_s=AFTER_TYPING_S)

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    def closed(given: types.DidCloseTextDocumentParams) -> None:
        auditing.forget(given.text_document.uri)

    @server.feature(
        types.TEXT_DOCUMENT_CODE_ACTION, types.CodeActionOptions(code_action_kinds=[types.CodeActionKind.QuickFix])
    )
    def actions(given: types.CodeActionParams) -> list[types.CodeAction]:
        return auditing.actions(given.text_document.uri, given.range)

    @server.feature(types.TEXT_DOCUMENT_HOVER)
    def hover(given: types.HoverParams) -> types.Hover | None:
        return auditing.hover(given.text_document.uri, given.position)

    return server


class _Auditing:
    """The open files: what was found in each, and which audit is the latest."""

    def __init__(self, server: LanguageServer) -> None:
        self.server = server
        self.files: dict[str, OpenFile] = {}
        self.asked: dict[str, int] = {}
        self.one_at_a_time = threading.Lock()  # the rules keep what they have worked out, for one thread

    async def audit(self, uri: str, *, after_s: float = 0.0) -> None:
        """Audits a file as it is in the editor and publishes what is found, unless it is asked for again meanwhile."""
        number = self.asked[uri] = self.asked.get(uri, 0) + 1
        if after_s:
            await asyncio.sleep(after_s)
        path = uris.to_fs_path(uri)
        if self.asked.get(uri) != number or not path:
            return
        document = self.server.workspace.get_text_document(uri)
        root = Path(self.server.workspace.root_path or Path(path).parent).absolute()
        try:
            found = await asyncio.to_thread(self._audited, Path(path).absolute(), document.source, root)
        except DoctorError as error:
            self.server.window_show_message(types.ShowMessageParams(types.MessageType.Error, str(error)))
            return
        if self.asked.get(uri) != number:
            return
        self.files[uri] = found
        self._publish(uri, [_diagnostic(one) for one in found.found], document.version)

    def _audited(self, path: Path, text: str, root: Path) -> OpenFile:
        with self.one_at_a_time:
            return audited(path, text, root)

    def _publish(self, uri: str, found: list[types.Diagnostic], number: int | None) -> None:
        self.server.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, found, number))

    def forget(self, uri: str) -> None:
        """Takes away what is shown of a file that was closed."""
        self.files.pop(uri, None)
        self.asked[uri] = self.asked.get(uri, 0) + 1
        self._publish(uri, [], None)

    def actions(self, uri: str, where: types.Range) -> list[types.CodeAction]:
        """Returns the repairs of what stands on some lines, as --fix would make them."""
        file = self.files.get(uri)
        if file is None or file.text != self.server.workspace.get_text_document(uri).source:
            return []  # the places are those of another text
        found = []
        for one in file.at(where.start.line + 1, where.end.line + 1):
            edits = [types.TextEdit(_range(edit, file.text), edit.text) for edit in edits_of(one)]
            if edits:
                found.append(
                    types.CodeAction(
                        title=f"{one.code}: {one.hit.fix}",
                        kind=types.CodeActionKind.QuickFix,
                        diagnostics=[_diagnostic(one)],
                        edit=types.WorkspaceEdit(changes={uri: edits}),
                    )
                )
        return found

    def hover(self, uri: str, where: types.Position) -> types.Hover | None:
        """Returns what `explain` says of the rules that found something on a line."""
        file = self.files.get(uri)
        codes = dict.fromkeys(one.code for one in file.at(where.line + 1, where.line + 1)) if file is not None else {}
        texts = [f"**{code}** {meaning(code)}" for code in codes]
        return types.Hover(types.MarkupContent(types.MarkupKind.Markdown, "\n\n---\n\n".join(texts))) if texts else None


def _diagnostic(one: Found) -> types.Diagnostic:
    hit = one.hit
    line = hit.file.line(hit.line)
    start = _units(line[: hit.column - 1])
    end = max(_units(line.rstrip()), start + 1)
    error = one.severity is Severity.ERROR
    return types.Diagnostic(
        range=types.Range(types.Position(hit.line - 1, start), types.Position(hit.line - 1, end)),
        message="\n".join([hit.title, *(f"  {step.place} {step.text}" for step in hit.steps), f"fix: {hit.fix}"]),
        severity=types.DiagnosticSeverity.Error if error else types.DiagnosticSeverity.Warning,
        code=one.code,
        source=NAME,
    )


def _range(edit: Edit, text: str) -> types.Range:
    lines = text.splitlines()
    return types.Range(_position(edit.start, lines), _position(edit.end, lines))


def _position(place: tuple[int, int], lines: list[str]) -> types.Position:
    line, column = place
    before = lines[line - 1].encode()[:column].decode("utf-8", "ignore") if 0 < line <= len(lines) else ""
    return types.Position(line - 1, _units(before))


def _units(text: str) -> int:
    """Returns how long a text is as the protocol counts: in units of UTF-16."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2
