"""Qualified names of modules: the dotted path from the outermost module that was called."""

from __future__ import annotations

import weakref

# Wrappers and the attribute that holds what they wrap: neither belongs into the name a user knows.
WRAPPED_IN = {
    "DistributedDataParallel": "module",
    "DataParallel": "module",
    "FullyShardedDataParallel": "_fsdp_wrapped_module",
    "OptimizedModule": "_orig_mod",
    "CheckpointWrapper": "_checkpoint_wrapped_module",
    "OffloadWrapper": "_checkpoint_wrapped_module",
}
MAX_REWALKS = 8  # of one root, for submodules that appeared after it was first called


class Names:
    """Ids of names by `id(module)`, exact because an entry goes when its module does."""

    def __init__(self):
        self.ids = {}  # id(module) -> id of its name; read directly by the patched Module.__call__
        self._texts = {}  # id(module) -> (path, class, root class)
        self._paths = {}  # id of a name -> path
        self._alive = {}  # id(module) -> weak reference that removes the entries
        self.walks = {}  # id(root) -> how often its tree was walked; read directly, too
        self._strings = None

    def attach(self, strings):
        """Starts over with another names area (None: nowhere to write to)."""
        self._strings = strings
        for table in (self.ids, self._texts, self._paths, self.walks):
            table.clear()

    def text_of(self, module):
        """Returns (path, class, class of the outermost module), with no path where it is not named."""
        return self._texts.get(id(module)) or ("", type(module).__qualname__, "")

    def name_root(self, root):
        """Names `root` and all below it; a module known from a smaller tree gets its longer path."""
        if self.walks.get(id(root), 0) >= MAX_REWALKS:
            return
        self.walks[id(root)] = self.walks.get(id(root), 0) + 1
        for module, text in _walk(root):
            known = self._texts.get(id(module))
            if known is None or len(text[0]) > len(known[0]):
                self._set(module, text)

    def name_stray(self, module, parent):
        """Names a module that is in no tree walked so far, such as one made in forward(); `parent` is a name's id."""
        path, kind = self._paths.get(parent, ""), type(module).__qualname__
        self._set(module, ("%s.<%s>" % (path, kind) if path else "<%s>" % kind, kind, ""))

    def strays(self, most):
        """Returns up to so many (path, module) that were called inside a model whose tree does not hold them.

        Those with one path are told apart by a number: "<Block>[0]", "<Block>[1]".
        """
        found, numbers = [], {}
        for key, (path, kind, root_class) in list(self._texts.items()):
            if root_class or "<" in path[: -len(kind) - 2] or len(found) == most:  # in a tree, or below a stray one
                continue
            alive = self._alive.get(key)  # it may end while the others are gone through
            module = alive() if alive is not None else None
            if module is not None:
                number = numbers[path] = numbers.get(path, -1) + 1
                found.append(("%s[%d]" % (path, number), module))
        return found

    def _set(self, module, text):
        key = id(module)
        if key not in self._alive:
            self._alive[key] = weakref.ref(module, lambda _: self._forget(key))
        self._texts[key] = text
        name = self._strings.intern("\0".join(text).encode("utf-8", "replace")) if self._strings is not None else 0
        self.ids[key] = name
        self._paths[name] = text[0]

    def _forget(self, key):
        for table in (self.ids, self._texts, self._alive, self.walks):
            table.pop(key, None)


def _walk(root):
    """Yields (module, (path, class, root class)) for `root` and all below, each module once, wrappers left out."""
    inner = root
    while type(inner).__name__ in WRAPPED_IN and _children(inner).get(WRAPPED_IN[type(inner).__name__]) is not None:
        inner = _children(inner)[WRAPPED_IN[type(inner).__name__]]
    root_class = type(inner).__qualname__
    seen, waiting = set(), [("", root)]
    while waiting:
        path, module = waiting.pop()
        if id(module) in seen:
            continue
        seen.add(id(module))
        yield module, (path, type(module).__qualname__, root_class)
        skipped = WRAPPED_IN.get(type(module).__name__)
        for name, child in reversed(list(_children(module).items())):
            if child is not None:
                waiting.append((path if name == skipped else "%s.%s" % (path, name) if path else name, child))


def _children(module):
    return module.__dict__.get("_modules") or {}
