"""The configured port, tried before any rank starts: a port in use would make the ranks wait for a stranger."""

from __future__ import annotations

import errno
import socket

from ups.errors import ConfigError


def check_port(port: int) -> None:
    """Raises ConfigError where this machine's ranks could not meet on `port`."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind(("", port))
            listener.listen(1)
        except OSError as error:
            raise _refused(port, error) from error


def _refused(port: int, error: OSError) -> ConfigError:
    if error.errno == errno.EADDRINUSE:
        return ConfigError(
            f"training.port {port} is in use by another program: the ranks cannot meet there",
            hint=f"see whose it is: ss -ltnp 'sport = :{port}'; or take a free one: --set training.port=null",
        )
    if error.errno == errno.EACCES:
        return ConfigError(
            f"training.port {port} is reserved for root", hint="take a free one: --set training.port=null"
        )
    return ConfigError(f"training.port {port} cannot be used: {error.strerror}", hint="--set training.port=null")
