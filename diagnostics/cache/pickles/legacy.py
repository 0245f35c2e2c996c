"""The five pickles with which a torch file of the old format begins."""

from __future__ import annotations

from diagnostics.cache.pickles.opcodes import HANDLERS
from diagnostics.cache.pickles.walk import PickleWalk

# The first pickle: PROTO 2, LONG1 of 10 bytes 0x1950a86a20f9469cfc6c, STOP. Source: torch/serialization.py.
MAGIC = b"\x80\x02\x8a\x0al\xfc\x9cF\xf9 j\xa8P\x19."
PICKLES = ("magic number", "protocol version", "system facts", "object", "storage keys")


def walk_legacy(data: bytes) -> PickleWalk:
    """Returns the walk over a legacy file's five pickles; on its stack is the object. Raises MalformedPickleError."""
    walk = PickleWalk(data)
    built = []
    for _ in PICKLES:
        walk.stack, walk.marks, walk.memo = [], [], {}
        walk.run(HANDLERS)
        built.append(walk.stack)
    walk.stack = built[PICKLES.index("object")]
    return walk
