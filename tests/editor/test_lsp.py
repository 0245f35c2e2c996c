"""`ups-doctor lsp` as an editor runs it: a process, and messages of JSON-RPC through its pipes."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pygls")

BAD = """\
import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, DistributedSampler

from guards import is_main


def main(data):
    dist.init_process_group("gloo")
    sampler = DistributedSampler(data)
    loader = DataLoader(data, sampler=sampler, shuffle=True)
    if is_main():
        dist.barrier()
    return loader
"""
GUARDS = """\
import torch.distributed as dist


def is_main():
    return dist.get_rank() == 0
"""


class Editor:
    """A client of the protocol."""

    def __init__(self, folder: Path) -> None:
        code = "import sys; from diagnostics.cli import main; sys.argv[0] = 'ups-doctor'; main()"
        self.server = subprocess.Popen(
            [sys.executable, "-c", code, "lsp"], cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )  # fmt: skip
        self.folder = folder
        self.number = 0

    def send(self, method: str, params: Any, *, number: int | None = None) -> None:
        body = {"jsonrpc": "2.0", "method": method, "params": params}
        if number is not None:
            body["id"] = number
        text = json.dumps(body).encode()
        assert self.server.stdin is not None
        self.server.stdin.write(f"Content-Length: {len(text)}\r\n\r\n".encode() + text)
        self.server.stdin.flush()

    def read(self) -> dict[str, Any]:
        assert self.server.stdout is not None
        length = 0
        while line := self.server.stdout.readline().strip():
            if line.lower().startswith(b"content-length:"):
                length = int(line.split(b":")[1])
        assert length, self.server.stderr.read().decode() if self.server.stderr else ""
        message: dict[str, Any] = json.loads(self.server.stdout.read(length))
        return message

    def ask(self, method: str, params: Any) -> Any:
        """Returns the answer to a request; what the server says meanwhile is passed over."""
        self.number += 1
        self.send(method, params, number=self.number)
        while (answer := self.read()).get("id") != self.number or "method" in answer:
            pass
        assert "error" not in answer, answer
        return answer["result"]

    def found(self) -> list[dict[str, Any]]:
        """Returns the next findings that the server publishes."""
        while (message := self.read()).get("method") != "textDocument/publishDiagnostics":
            pass
        found: list[dict[str, Any]] = message["params"]["diagnostics"]
        return found

    def uri(self, name: str) -> str:
        return (self.folder / name).as_uri()

    def open(self, name: str, text: str) -> None:
        document = {"uri": self.uri(name), "languageId": "python", "version": 1, "text": text}
        self.send("textDocument/didOpen", {"textDocument": document})

    def change(self, name: str, text: str, version: int) -> None:
        named = {"uri": self.uri(name), "version": version}
        self.send("textDocument/didChange", {"textDocument": named, "contentChanges": [{"text": text}]})


@pytest.fixture
def editor(tmp_path: Path) -> Iterator[Editor]:
    (tmp_path / "guards.py").write_text(GUARDS)
    (tmp_path / "train.py").write_text("# saved, and not what the editor holds\n")
    one = Editor(tmp_path)
    one.ask("initialize", {"processId": None, "rootUri": tmp_path.as_uri(), "capabilities": {}})
    one.send("initialized", {})
    yield one
    if one.server.poll() is None:
        one.server.kill()
    one.server.communicate()


def places(found: list[dict[str, Any]]) -> list[tuple[str, int, int]]:
    return [(one["code"], one["range"]["start"]["line"] + 1, one["severity"]) for one in found]


def test_what_the_editor_holds_is_audited_when_it_is_opened_changed_and_closed(editor: Editor) -> None:
    editor.open("train.py", BAD)
    found = editor.found()
    assert places(found) == [("A155", 11, 1), ("A201", 13, 1)]
    assert found[1]["message"].splitlines()[-1].startswith("fix: ")
    editor.change("train.py", BAD.replace(", shuffle=True", ""), 2)
    editor.change(
        "train.py", BAD.replace(", shuffle=True", "").replace("    if is_main():\n        dist", "    dist"), 3
    )
    assert editor.found() == []  # of the two changes only the last is audited
    editor.send("textDocument/didClose", {"textDocument": {"uri": editor.uri("train.py")}})
    assert editor.found() == []


UNTOLD = """\
import torch.distributed as dist
from torch.nn import Linear
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler

data = [1.0, 2.0]
dist.init_process_group("gloo")
model = DistributedDataParallel(Linear(1, 1))
sampler = DistributedSampler(data)
loader = DataLoader(data, sampler=sampler)
for epoch in range(10):
    for batch in loader:
        model(batch).mean().backward()
dist.destroy_process_group()
"""


def test_a_quick_fix_is_what_fix_would_write_and_hover_explains_the_rule(editor: Editor) -> None:
    editor.open("train.py", UNTOLD)
    assert places(editor.found()) == [("A156", 9, 2)]
    line = {"start": {"line": 8, "character": 0}, "end": {"line": 8, "character": 0}}
    named = {"textDocument": {"uri": editor.uri("train.py")}}
    (action,) = editor.ask("textDocument/codeAction", {**named, "range": line, "context": {"diagnostics": []}})
    (edit,) = action["edit"]["changes"][editor.uri("train.py")]
    here = {"line": 11, "character": 4}
    assert edit == {"range": {"start": here, "end": here}, "newText": "sampler.set_epoch(epoch)\n    "}
    hover = editor.ask("textDocument/hover", {**named, "position": {"line": 8, "character": 10}})
    assert hover["contents"]["value"].startswith("**A156** DistributedSampler shuffles, and set_epoch is never called")
    assert editor.ask("textDocument/hover", {**named, "position": {"line": 0, "character": 0}}) is None


def test_the_server_ends_with_0_when_the_editor_says_exit(editor: Editor) -> None:
    editor.ask("shutdown", None)
    editor.send("exit", None)
    assert editor.server.wait(timeout=30) == 0


def test_the_server_ends_when_the_editor_is_gone(editor: Editor) -> None:
    assert editor.server.stdin is not None
    editor.server.stdin.close()
    editor.server.stdin = None
    editor.server.wait(timeout=30)


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_ends_the_server_while_it_waits_for_the_editor(
    editor: Editor, number: signal.Signals, code: int
) -> None:
    editor.server.send_signal(number)
    assert editor.server.wait(20) == code


def test_ctrl_c_ends_a_server_to_which_nobody_speaks(tmp_path: Path) -> None:
    server = Editor(tmp_path).server
    assert server.stdin is not None
    listening = 1 << (signal.SIGTERM - 1)
    until = time.monotonic() + 20
    while not _caught(server.pid) & listening and time.monotonic() < until:
        time.sleep(0.05)
    time.sleep(1.0)  # it imports, then waits for a message
    server.send_signal(signal.SIGINT)
    _, said = server.communicate(timeout=20)
    assert (server.returncode, said.decode().strip()) == (130, "interrupted by Ctrl-C")


def _caught(pid: int) -> int:
    status = Path(f"/proc/{pid}/status").read_text()
    return int(next(line.split()[1] for line in status.splitlines() if line.startswith("SigCgt")), 16)
