"""Small object caches, keyed on the thing they were built for."""
import collections


class BoundedCache:
    """Least recently used entries go first."""

    def __init__(self, maxsize):
        self.maxsize = maxsize
        self.hits = 0
        self.misses = 0
        self._entries = collections.OrderedDict()

    def __len__(self):
        return len(self._entries)

    def lookup(self, key):
        entry = self._entries.get(key)
        if entry is not None:
            self._entries.move_to_end(key)
            self.hits += 1
        return entry

    def insert(self, key, entry):
        self.misses += 1
        self._entries[key] = entry
        while len(self._entries) > self.maxsize:
            self._entries.popitem(last=False)
        return entry


def cached(cache, key, build):
    """Returns the object of that key, built where it is not there."""
    entry = cache.lookup(key)
    if entry is None:
        entry = cache.insert(key, build())
    return entry
