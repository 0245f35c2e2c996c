"""Ports that this process listens on, each with the line that made it."""

from __future__ import annotations

import sys

from ..patching import disguised


def watch(agent):
    """Records each TCP port of socket.listen(): what else wants that port fails far from this line."""
    kind = sys.modules["socket"].socket
    original = kind.listen

    def listen(self, *args, **kwargs):
        result = original(self, *args, **kwargs)
        try:
            address = self.getsockname()
            if isinstance(address, tuple):  # a path or a name of Unix's own kind is no port
                agent.event("listen", "port=%d" % address[1], frame=sys._getframe(1))
        except Exception:
            pass  # an event less; the job goes on
        return result

    kind.listen = disguised(listen, original)
