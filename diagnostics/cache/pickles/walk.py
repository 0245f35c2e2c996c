"""Reads a pickle's opcodes as data: its tensors and storages, and what it would import or call.

Nothing is unpickled: the stack holds plain constants and the stand-ins of pickle_values, so no class is
looked up, nothing is imported and nothing is called. Time and memory are bounded by MAX_OPS, the other limits
here and the caller's limit on bytes; nesting costs no recursion. Opcodes: PEP 307, 574, 3154 and
the comments of Python's pickletools.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from diagnostics.cache.dangerous_globals import dangerous
from diagnostics.cache.file_bytes import DamagedFileError
from diagnostics.cache.file_scan import UnsafeCall as UnsafeCall
from diagnostics.cache.pickles.rebuild import OTHERS, TENSORS
from diagnostics.cache.pickles.values import GLOBALS, KEPT, UNSAFE, Blob, PickleNode, PickleTensor
from diagnostics.cache.pickles.values import OPAQUE as OPAQUE
from diagnostics.cache.pickles.values import Global as Global
from diagnostics.cache.storages import StorageTag, storage_type

MAX_OPS = 2_000_000  # a checkpoint of 10,000 tensors has about 500,000
MAX_MEMO = 1_000_000
MAX_TEXT = 1024  # longer strings are never names, keys or devices
MAX_UNSAFE = 16  # different names that are kept
MAX_NODES = 200_000  # containers that are kept, and what they keep; tensors beyond have no key
MAX_KEPT = 400_000
MAX_TENSORS = 100_000  # that are kept; all are counted


class MalformedPickleError(DamagedFileError):
    """The bytes are no complete pickle; `truncated` tells one that is cut off from nonsense."""


Handler = Callable[["PickleWalk"], None]  # what one opcode does to the walk
STOP = ord(".")


@dataclass(slots=True)
class PickleWalk:
    """The state of one walk; read `storages`, `unsafe`, `tensors` and `end` after `run`."""

    data: bytes
    at: int = 0
    stack: list[Any] = field(default_factory=list)
    marks: list[int] = field(default_factory=list)  # heights of the stack
    memo: dict[int, Any] = field(default_factory=dict)
    storages: dict[tuple[str, str], StorageTag] = field(default_factory=dict)
    unsafe: dict[str, UnsafeCall] = field(default_factory=dict)
    refused: dict[str, UnsafeCall] = field(default_factory=dict)  # harmless names beyond tensors
    placed: list[StorageTag] = field(default_factory=list)  # tensors that name a device of their own
    used: dict[StorageTag, list[int]] = field(default_factory=dict)  # [bytes of all views, first byte, last byte]
    dtypes: dict[StorageTag, str] = field(default_factory=dict)  # of storages of bytes, by their tensors
    kept_tensors: list[PickleTensor] = field(default_factory=list)
    tensors: int = 0
    nodes: int = 0
    kept: int = 0
    op_at: int = 0

    def run(self, handlers: Mapping[int, Handler]) -> PickleWalk:
        """Walks to STOP by `pickle_opcodes.HANDLERS` and returns itself; `at` is then the first byte after the pickle.

        Raises MalformedPickleError with the offset for bytes that are no pickle, are cut off, or
        exceed the limits.
        """
        data = self.data
        try:
            for _ in range(MAX_OPS):
                self.op_at = at = self.at
                code = data[at]
                self.at = at + 1
                if code == STOP:
                    return self
                handlers[code](self)
        except KeyError:
            raise MalformedPickleError(f"no opcode {data[self.op_at]:#04x} at byte {self.op_at}") from None
        except IndexError:
            cut = self.at >= len(data)
            what = "ends before its STOP" if cut else "takes from an empty stack"
            raise MalformedPickleError(f"the pickle {what} (byte {self.op_at})", truncated=cut) from None
        raise MalformedPickleError(f"more than {MAX_OPS:,} opcodes")

    def take(self, size: int) -> bytes:
        """Returns the next `size` bytes of the argument."""
        begin = self.at
        self.skip(size)
        return self.data[begin : self.at]

    def skip(self, size: int) -> None:
        """Steps over `size` bytes without copying them."""
        if self.at + size > len(self.data):
            what = f"an argument of {size} bytes at byte {self.op_at} exceeds the pickle"
            raise MalformedPickleError(what, truncated=True)
        self.at += size

    def number(self, size: int) -> int:
        """Returns the next `size` bytes as an unsigned number."""
        return int.from_bytes(self.take(size), "little")

    def line(self) -> str:
        """Returns the argument up to the next newline; an overlong one is cut."""
        end = self.data.find(b"\n", self.at)
        if end < 0:
            raise MalformedPickleError(f"a line begun at byte {self.op_at} has no end", truncated=True)
        text = self.data[self.at : min(end, self.at + MAX_TEXT)].decode("utf-8", "replace")
        self.at = end + 1
        return text

    def to_mark(self) -> list[Any]:
        """Takes everything above the last mark."""
        if not self.marks:
            raise MalformedPickleError(f"no mark on the stack at byte {self.op_at}")
        height = self.marks.pop()
        items = self.stack[height:]
        del self.stack[height:]
        return items

    def pop(self) -> Any:
        """Takes the top of the stack."""
        return self.stack.pop()

    def remember(self, slot: int) -> None:
        """Stores the top of the stack in the memo."""
        if len(self.memo) >= MAX_MEMO:
            raise MalformedPickleError(f"more than {MAX_MEMO:,} memo entries")
        if slot > len(self.data):  # an unpickler allocates as many; who writes a pickle counts them from 0
            raise MalformedPickleError(
                f"memo entry {slot:,} at byte {self.op_at} of a pickle of {len(self.data):,} bytes"
            )
        self.memo[slot] = self.stack[-1]

    def recall(self, slot: int) -> None:
        """Pushes a memo entry."""
        if slot not in self.memo:
            raise MalformedPickleError(f"memo entry {slot} at byte {self.op_at} was never stored")
        self.stack.append(self.memo[slot])

    def name(self, name: str) -> Global:
        """Returns the global, and notes it when it is more than tensor rebuilding."""
        known = GLOBALS.get(name, UNSAFE)
        if known is UNSAFE:
            self.flag(name)
        elif known.refused and len(self.refused) < MAX_UNSAFE:
            self.refused.setdefault(name, UnsafeCall(name, self.op_at))
        return known

    def flag(self, name: str) -> None:
        """Notes something unsafe at this opcode; only the first few names are kept, and as many dangerous ones more."""
        if len(self.unsafe) < MAX_UNSAFE or (len(self.unsafe) < 2 * MAX_UNSAFE and dangerous(name)):
            self.unsafe.setdefault(name, UnsafeCall(name, self.op_at))

    def call(self, callee: Any, arguments: Any) -> None:
        """Pushes what stands for the result of a call: nothing is called."""
        if not isinstance(callee, Global):
            self.flag("a value computed by the pickle itself")
        self.stack.append(self.result(callee, arguments))

    def result(self, callee: Any, arguments: Any) -> Any:
        """Returns what stands for the result of a call."""
        name = callee.name if isinstance(callee, Global) else ""
        rebuild = TENSORS.get(name)
        if rebuild is None and name not in OTHERS:
            return self._object(name, arguments)
        self.tensors += rebuild is not None
        try:
            value = (rebuild or OTHERS[name])(self, arguments)
        except (ValueError, TypeError, IndexError):
            return OPAQUE  # no such arguments: torch would refuse them
        if rebuild is None:
            return value
        if len(self.kept_tensors) >= MAX_TENSORS:
            return OPAQUE
        self.kept_tensors.append(value)
        return value

    def _object(self, name: str, arguments: Any) -> Any:
        if name == "torch.storage._load_from_bytes" and type(arguments) is tuple and arguments:
            return self.blob(arguments[0])
        if name == "_codecs.encode" and type(arguments) is tuple and arguments and isinstance(arguments[0], Blob | str):
            return arguments[0]
        node = self.node()
        if type(node) is PickleNode and type(arguments) is tuple:
            for value in arguments:
                self.keep(node, "", value)
            node.count = 0
        return node

    def blob(self, value: Any) -> Any:
        """Returns what stands for a torch file inside the pickle, which is not looked into here."""
        return OPAQUE

    def node(self) -> Any:
        """Returns an empty container, or the marker for everything else where there are too many."""
        self.nodes += 1
        return PickleNode() if self.nodes <= MAX_NODES else OPAQUE

    def keep(self, node: Any, key: Any, value: Any) -> None:
        """Puts a value into a container where it may lead to a tensor."""
        if type(node) is not PickleNode:
            return
        node.count += 1
        if type(value) in KEPT and value and self.kept < MAX_KEPT:
            self.kept += 1
            node.items.append((key, value))

    def use(self, storage: StorageTag, tensor: PickleTensor, begin: int, end: int) -> None:
        """Notes which bytes of a storage a tensor views."""
        use = self.used.get(storage)
        if use is None:
            self.used[storage] = [min(tensor.bytes, end - begin), begin, end]
            if storage.dtype == "bytes":
                self.dtypes[storage] = tensor.dtype
        else:
            use[0] += min(tensor.bytes, end - begin)
            use[1] = min(use[1], begin)
            use[2] = max(use[2], end)

    def on_device(self, tensor: PickleTensor) -> StorageTag:
        """Notes a tensor that names a device of its own."""
        tag = StorageTag("", tensor.dtype, tensor.itemsize, tensor.device, tensor.numel, tensor.at)
        self.placed.append(tag)
        return tag

    def persistent(self, reference: Any) -> None:
        """Notes the storage that a persistent id names: ('storage', class, key, location, numel, ...)."""
        if not isinstance(reference, tuple) or len(reference) < 2:
            raise MalformedPickleError(f"the persistent id at byte {self.op_at} names no storage")
        if reference[0] == "module":  # legacy files keep the source of saved modules here
            self.flag("a module's source kept in the pickle")
            self.stack.append(reference[1])
        else:
            self.stack.append(self._storage(reference))

    def _storage(self, reference: tuple[Any, ...]) -> StorageTag:
        word, kind, key, location, numel = reference[:5] if len(reference) >= 5 else (None,) * 5
        known = isinstance(kind, Global) and isinstance(key, str) and isinstance(location, str)
        if word != "storage" or not known or not isinstance(numel, int) or not 0 <= numel < 1 << 62:
            raise MalformedPickleError(f"the persistent id at byte {self.op_at} names no storage")
        tag = self.storages.get((key, location))
        if tag is None:
            tag = StorageTag(key, *storage_type(kind.name.rpartition(".")[2]), location, numel, self.op_at)
            self.storages[key, location] = tag
        return tag
