"""Launch commands that Python writes as a list of words: ["torchrun", "--master-port=29500", "train.py"]. Pure."""

from __future__ import annotations

import ast

_LAUNCHERS = frozenset(["torchrun", "torch.distributed.run", "torch.distributed.launch"])
_PORTS = frozenset(["--master-port", "--rdzv-endpoint"])
_HERE = ("localhost", "127.0.0.1", "")


def written_port(node: ast.AST) -> tuple[ast.expr, str] | None:
    """Returns (word, what it says) of the port in a list that starts ranks on this machine, None without one."""
    if not isinstance(node, (ast.List, ast.Tuple)):
        return None
    words = [_text(one) for one in node.elts]
    if _LAUNCHERS.isdisjoint(words) or "--standalone" in words or not _is_here(words):
        return None
    for index, word in enumerate(words):
        name, equals, value = word.partition("=")
        given = value if equals else words[index + 1] if index + 1 < len(words) else ""
        host, _, port = given.rpartition(":")
        if _dashed(name) in _PORTS and port.isdigit() and port != "0" and host in _HERE:
            return node.elts[index], f"{name} is always {port}"
    return None


def _is_here(words: list[str]) -> bool:
    """Whether every option about machines that is written down names this one."""
    for index, word in enumerate(words):
        name, equals, value = word.partition("=")
        given = value if equals else words[index + 1] if index + 1 < len(words) else ""
        allowed = {"--nnodes": ("1",), "--node-rank": ("0",), "--master-addr": _HERE}.get(_dashed(name))
        if allowed is not None and given not in allowed:
            return False
    return True


def _dashed(name: str) -> str:
    return "--" + name[2:].replace("_", "-")


def _text(value: ast.expr) -> str:
    if isinstance(value, ast.Constant) and isinstance(value.value, str):
        return value.value
    if isinstance(value, ast.JoinedStr) and value.values and isinstance(value.values[0], ast.Constant):
        return str(value.values[0].value) + "{}"
    return ""
