import hashlib
import json
import os
import time

WORDS = "the a model learns to answer from what it has seen and nothing else".split()


def examples(count):
    return [" ".join(WORDS[(i * k) % len(WORDS)] for k in range(1, 12)) for i in range(count)]


class CachedMap:
    """dataset.map with a fingerprint: who comes second reads what the first one wrote."""

    def __init__(self, folder):
        self.folder = folder
        os.makedirs(folder, exist_ok=True)

    def __call__(self, rows, function, deadline):
        key = hashlib.sha1("\n".join(rows).encode()).hexdigest()[:12]
        path = os.path.join(self.folder, f"cache-{key}.json")
        if os.path.exists(path):
            with open(path) as handle:
                return json.load(handle), "cache"
        started, out = time.time(), []
        for number, row in enumerate(rows):
            out.append(function(row))
            while time.time() - started < deadline * number / len(rows):
                function(row)
        with open(path + ".tmp", "w") as handle:
            json.dump(out, handle)
        os.replace(path + ".tmp", path)
        return out, "computed"


def tokenize(text):
    return [int(hashlib.md5(w.encode()).hexdigest(), 16) % 64 for w in text.split()]
