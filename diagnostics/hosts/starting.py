"""Starts the program of `children/hosts` on each host through ssh, or through whatever --remote says.

A shell there is the one thing that is needed: the program goes over its stdin, in two parts, so that nothing has to be
quoted for ssh and what the shell reads ahead is never part of the program.
"""

from __future__ import annotations

import json
import os
import secrets
import shlex
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from diagnostics.core.errors import UsageError
from diagnostics.hosts.conversation import Conversation
from diagnostics.hosts.host_line import MARK, HostLine
from diagnostics.hosts.host_list import Host

BY_SSH = "ssh -o BatchMode=yes -o ConnectTimeout=10 {host}"
PARTS = ("folder_prints", "about_host", "peer_links", "gloo_child", "host_program")  # each imports those before it
PROGRAMS = Path(__file__).parent.parent / "children" / "hosts"
TAKEN_ALONG = ("NCCL_", "GLOO_")  # variables of this shell that choose what ranks connect through
# The first entry of the path is the current folder: a file of the job's that is called select.py is no part of this.
BOOT = (
    "import sys; sys.path[:1] = []; import json, types\n"
    f"print({MARK.decode() + json.dumps({'ready': True})!r}, flush=True)\n"
    "given = json.loads(sys.stdin.buffer.readline())\n"
    "for name, text in given['parts']:\n"
    "    made = sys.modules[name] = types.ModuleType(name)\n"
    "    exec(compile(text, '<' + name + '>', 'exec'), made.__dict__)\n"
    "sys.modules['host_program'].by_pipe(given['token'])\n"
)


def new_token() -> str:
    """Returns what hosts show each other: a stranger who connects in these seconds has none."""
    return secrets.token_hex(16)


def remote_words(template: str, host: Host) -> list[str]:
    """Returns the words that start a shell on a host. Raises UsageError for a template that names no host."""
    try:
        words = shlex.split(template)
    except ValueError as error:
        raise UsageError(f"--remote {template}: {error}", hint=f"for example: --remote '{BY_SSH}'") from error
    if "{host}" not in template:
        raise UsageError(f"--remote {template}: no {{host}} in it", hint=f"for example: --remote '{BY_SSH}'")
    # An address beside the name is where peers find it; ssh may know the name by its own configuration only.
    return [word.replace("{host}", host.name) for word in words] + ["sh"]


def start_on_all(
    hosts: Sequence[Host],
    *,
    template: str,
    python: str,
    token: str,
    within_s: float,
    environ: Mapping[str, str] = os.environ,
) -> Conversation:
    """Returns the lines to all hosts; one whose program has not begun in time has `ended` and says why."""
    lines: list[HostLine] = []
    try:
        for host in hosts:
            lines.append(started(host, remote_words(template, host)))
            lines[-1].put(shell_line(python, environ))
    except BaseException:
        Conversation(lines).close()
        raise
    conversation = Conversation(lines)
    await_programs(conversation, lines, token, within_s)
    return conversation


def started(host: Host, words: list[str]) -> HostLine:
    """Starts the way to one host. Raises UsageError where its first word is no program."""
    try:
        process = subprocess.Popen(
            words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
        )
    except OSError as error:
        raise UsageError(f"--remote: cannot start {words[0]}: {error.strerror}", hint=shlex.join(words)) from error
    streams = [one for one in (process.stdin, process.stdout, process.stderr) if one is not None]
    return HostLine(host, streams, process, words)


def shell_line(python: str, environ: Mapping[str, str]) -> bytes:
    """Returns what the shell there is told: this folder, these variables, the job's Python."""
    chosen = [f"{key}={shlex.quote(value)}" for key, value in environ.items() if key.startswith(TAKEN_ALONG)]
    program = " ".join([*chosen, "exec", shlex.quote(python), "-u", "-c", shlex.quote(BOOT)])
    return f"cd {shlex.quote(str(Path.cwd()))} 2>/dev/null; {program}\n".encode()


def parts() -> list[tuple[str, str]]:
    """Returns name and text of each file of the program."""
    return [(name, (PROGRAMS / f"{name}.py").read_text(encoding="utf-8")) for name in PARTS]


def await_programs(conversation: Conversation, lines: Sequence[HostLine], token: str, within_s: float) -> None:
    """Sends the program to each host whose Python says that it is there."""
    program = json.dumps({"parts": parts(), "token": token}).encode() + b"\n"
    ready: set[str] = set()

    def heard(line: HostLine, message: Any) -> None:
        if isinstance(message, Mapping) and message.get("ready") and line.host.name not in ready:
            ready.add(line.host.name)
            line.put(program)

    conversation.listen(lines, heard, lambda: all(line.ended or line.host.name in ready for line in lines), within_s)
    for line in lines:
        if not line.ended and line.host.name not in ready:
            line.end(f"no answer within {within_s:.0f} s{line.last_words()}")
