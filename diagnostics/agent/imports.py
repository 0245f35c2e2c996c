"""Calls back when a module has been imported, without importing it."""

from __future__ import annotations

import sys

_waiting = {}


def when_imported(name, callback):
    """Calls `callback()` once `name` is imported, at once if it is; what it raises is swallowed."""
    module = sys.modules.get(name)
    if module is not None and not getattr(getattr(module, "__spec__", None), "_initializing", False):
        _call(callback)
        return
    if not any(finder is _Finder for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder)
    _waiting.setdefault(name, []).append(callback)


def _call(callback):
    try:
        callback()
    except Exception:
        pass  # unwatched is better than broken


class _Finder:
    """First in line, finds nothing itself: asks those behind it and wraps the loader of a module waited for."""

    @classmethod
    def find_spec(cls, name, path=None, target=None):
        if name not in _waiting:
            return None
        for finder in sys.meta_path:
            find = getattr(finder, "find_spec", None)
            if finder is cls or find is None:
                continue
            spec = find(name, path, target)
            if spec is not None:
                if spec.loader is not None:
                    spec.loader = _Loader(spec.loader, name)
                return spec
        return None


class _Loader:
    """Runs the real loader and then the callbacks; the module itself only ever shows the real one."""

    def __init__(self, loader, name):
        self._loader, self._name = loader, name

    def create_module(self, spec):
        return self._loader.create_module(spec)

    def exec_module(self, module):
        module.__spec__.loader = module.__loader__ = self._loader
        self._loader.exec_module(module)
        callbacks = _waiting.pop(self._name, [])
        if not _waiting and _Finder in sys.meta_path:
            sys.meta_path.remove(_Finder)
        for callback in callbacks:
            _call(callback)

    def __getattr__(self, attribute):
        return getattr(self._loader, attribute)
