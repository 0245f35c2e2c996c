"""A plain pickle (`pickle.dump`) that holds device tags, is cut off, or would run code.

What it does: reads pickles of protocol 2 to 5, recognised by content, and older ones that name dangerous
callables: loaders run those, too. Their opcodes are read as data: nothing is unpickled. Tensors in them carry
whole torch files in bytes, whose device tags are read the same way.

Why it matters: a tensor that `pickle.dump` wrote is loaded by `torch.load` without `map_location`, and no
option of `pickle.load` changes that: a tag `cuda:0` cannot be loaded at all on another machine. A pickle can also
call any function when it is loaded. Classes of your own or of other libraries are a warning here, since every
pickle may name them; what reaches the system or evaluates code is an error.

Bad:

    pickle.dump({"latent": latent}, file)                    # latent lives on cuda:0

Good:

    torch.save({"latent": latent.cpu()}, path)

Fix: load it once on a machine that has the device and save it again with `torch.save`; do not load a file that
names a callable you do not know.
"""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

from diagnostics.cache.dangerous_globals import dangerous
from diagnostics.cache.file_bytes import FileBytes
from diagnostics.cache.file_scan import FileScan, Problem, UnsafeCall
from diagnostics.cache.pickles.facts import facts_of, listed
from diagnostics.cache.pickles.legacy import MAGIC, walk_legacy
from diagnostics.cache.pickles.opcodes import HANDLERS
from diagnostics.cache.pickles.values import OPAQUE, Blob, Global
from diagnostics.cache.pickles.walk import MAX_UNSAFE, Handler, MalformedPickleError, PickleWalk
from diagnostics.cache.rewriting.plain_pickle import repair as repair  # part of this plugin's contract
from diagnostics.cache.storages import StorageTag
from diagnostics.core.findings import Severity

CODE = "C111"
NAME = "plain-pickle"
FORMAT = "pickle"
ENDINGS = ()  # .pkl files may be compressed, or of protocol 0: their name promises nothing
NAMED = (".pkl", ".pickle", ".pt", ".pth", ".ckpt")  # what they hold is a pickle, or they are damaged
MAX_PICKLE_BYTES = 64 << 20
OLD_GLOBAL = re.compile(rb"[ci]([A-Za-z_][\w.]{0,200})\n([A-Za-z_][\w.]{0,200})\n", re.ASCII)
MAX_PICKLES = 1000  # one after the other in a file
LOADER = Global("torch.storage._load_from_bytes")


def recognise(head: bytes, tail: bytes) -> bool:
    """A pickle of protocol 2 to 5 whose first bytes are opcodes, or an older one that is dangerous; no torch file."""
    if head[:1] != b"\x80":
        return _old_and_dangerous(head)
    if not 2 <= int.from_bytes(head[1:2], "little") <= 5 or MAGIC.startswith(head):
        return False
    try:
        PlainWalk(head).run(PLAIN)
    except MalformedPickleError as error:
        return error.truncated
    return True


def _old_and_dangerous(head: bytes) -> bool:
    """Whether it is a pickle of protocol 0 or 1, which no mark tells, that names what no data need."""
    if not any(dangerous(f"{module.decode()}.{name.decode()}") for module, name in OLD_GLOBAL.findall(head)):
        return False
    walk = PlainWalk(head)
    with suppress(MalformedPickleError):
        walk.run(PLAIN)
    return bool(walk.unsafe)


@dataclass(slots=True)
class PlainWalk(PickleWalk):
    """A walk that also reads the torch files which `pickle.dump` puts into the bytes of a tensor's storage."""

    pushed: int = 0  # how often LOADER came onto the stack
    loaded: int = 0  # how often it was called with bytes that were read here
    classes: dict[str, UnsafeCall] = field(default_factory=dict)  # unknown, not known to be dangerous
    read: dict[int, Any] = field(default_factory=dict)  # what the bytes at an offset hold: none are read twice

    def flag(self, name: str) -> None:
        """Notes something unsafe at this opcode; the dangerous apart, lest many others hide them."""
        self._note(UnsafeCall(name, self.op_at))

    def _note(self, call: UnsafeCall) -> None:
        names = self.unsafe if dangerous(call.name) else self.classes
        if len(names) < MAX_UNSAFE:
            names.setdefault(call.name, call)

    def name(self, name: str) -> Global:
        """Returns the global, and notes it when it is more than tensor rebuilding."""
        if name != LOADER.name:
            return PickleWalk.name(self, name)
        self.pushed += 1
        return LOADER

    def blob(self, value: Any) -> Any:
        """Returns the storage that a torch file inside the pickle holds; what that would call counts as called here."""
        offset = value.offset if isinstance(value, Blob) else self.op_at
        if offset not in self.read:
            try:
                self.read[offset] = self._inner(offset, self._content(value))
            except (MalformedPickleError, UnicodeError):
                return OPAQUE
        self.loaded += 1
        return self.read[offset]

    def _content(self, value: Any) -> bytes:
        if isinstance(value, Blob):
            data = self.data[value.offset : value.offset + value.size]
            return data.decode().encode("latin-1") if value.text else data
        # Protocol 2 has no bytes: they are written as text.
        return value.encode("latin-1") if isinstance(value, str) else b""

    def _inner(self, offset: int, content: bytes) -> Any:
        inner = walk_legacy(content)
        for call in inner.unsafe.values():
            self._note(UnsafeCall(call.name, offset + call.offset))
        tags = [self._outer(tag, offset) for tag in inner.storages.values()]
        return tags[0] if len(tags) == 1 else OPAQUE

    def _outer(self, tag: StorageTag, offset: int) -> StorageTag:
        outer = replace(tag, key=str(len(self.storages)), offset=offset + tag.offset)
        self.storages[outer.key, outer.location] = outer
        return outer


def _counted(handler: Handler) -> Handler:
    def push(walk: PickleWalk) -> None:
        handler(walk)
        if walk.stack[-1] is LOADER and isinstance(walk, PlainWalk):
            walk.pushed += 1

    return push


PLAIN: dict[int, Handler] = {**HANDLERS, **{ord(code): _counted(HANDLERS[ord(code)]) for code in "hjg2"}}


def scan(file: FileBytes) -> FileScan:
    """Returns what the file holds and what is wrong with it; never raises for what the file contains."""
    data = file.head(MAX_PICKLE_BYTES)
    walk = PlainWalk(data)
    built: list[Any] = []
    try:
        for _ in range(MAX_PICKLES):
            walk.stack, walk.marks, walk.memo = [], [], {}
            walk.run(PLAIN)
            built.append(walk.stack[-1] if walk.stack else None)
            if walk.at >= len(data) or data[walk.at] != 0x80:
                break
    except MalformedPickleError as error:
        if file.size > len(data) and error.truncated:
            return _scan(file, walk, built, _too_long(file))
        return _malformed(file, error)
    if walk.at < len(data) and not walk.unsafe and not _named(file.path):
        return _nothing(file)  # a short beginning that any file of bytes may have
    return _scan(file, walk, built, [])


def _scan(file: FileBytes, walk: PlainWalk, built: list[Any], problems: list[Problem]) -> FileScan:
    if walk.pushed != walk.loaded:  # it went somewhere else than into a call that was read here
        walk.flag(LOADER.name)
    walk.refused = {}  # torch.load does not read these files
    walk.stack = [built[0] if len(built) == 1 else tuple(built)]
    facts = facts_of(walk)
    return FileScan(
        path=file.path,
        size=file.size,
        code=CODE,
        format=FORMAT,
        devices=facts.devices,
        dtypes=facts.dtypes,
        tensors=facts.tensors,
        facts=facts.facts,
        problems=(*facts.problems_of("pickle"), *_classes(list(walk.classes.values())), *problems),
    )


def _classes(calls: list[UnsafeCall]) -> list[Problem]:
    if not calls:
        return []
    names = listed([f"{call.name} (byte {call.offset})" for call in calls])
    return [
        Problem(
            name="code-in-pickle",
            observed=f"loading it would import {names}",
            expected="known by whoever loads it",
            place=f"pickle byte {calls[0].offset}",
            severity=Severity.WARNING,
        )
    ]


def _too_long(file: FileBytes) -> list[Problem]:
    return [
        Problem(
            name="not-examined",
            observed=f"a pickle of {file.size:,} bytes, of which {MAX_PICKLE_BYTES:,} were read",
            expected="large arrays in files of their own (.npy, .pt)",
            severity=Severity.WARNING,
        )
    ]


def _malformed(file: FileBytes, error: MalformedPickleError) -> FileScan:
    if not _named(file.path):
        return _nothing(file)
    problem = Problem(
        name="truncated-file" if error.truncated else "corrupt-file", observed=str(error), expected="a whole pickle"
    )
    return FileScan(path=file.path, size=file.size, code=CODE, format=FORMAT, problems=(problem,))


def _nothing(file: FileBytes) -> FileScan:
    return FileScan(path=file.path, size=file.size, skipped="not a cache format known here")


def _named(path: str) -> bool:
    return path.lower().endswith(NAMED)


MEANINGS = {
    "code-in-pickle": "are plain pickles that import classes of a library or a project when they are loaded",
    "not-examined": "are pickles too long to be read to their end here",
}
REMEDIES = {
    "code-in-pickle": "load them only where you know who wrote them; save data as .npy, .npz or with torch.save",
    "not-examined": "save large arrays as .npy or with torch.save",
}
