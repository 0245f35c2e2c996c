"""A store that limits how often it is written to, as object stores do."""
import json
import os
import shutil
import time
from pathlib import Path


class SlowDown(OSError):
    """The store asks for fewer requests."""


class ObjectStore:
    def __init__(self, root, per_second):
        self.root, self.per_second = Path(root), per_second
        self.root.mkdir(parents=True, exist_ok=True)
        self.requests = []

    def _admit(self):
        now = time.monotonic()
        self.requests = [t for t in self.requests if now - t < 1.0]
        if len(self.requests) >= self.per_second:
            raise SlowDown(503, "reduce your request rate")
        self.requests.append(now)

    def put(self, source, key):
        self._admit()
        target = self.root / key
        target.parent.mkdir(parents=True, exist_ok=True)
        partial = target.with_name(target.name + ".part")
        shutil.copyfile(source, partial)
        os.replace(partial, target)

    def has(self, key):
        return (self.root / key).exists()

    def index(self, entries):
        (self.root / "index.json").write_text(json.dumps(entries, indent=1))
