import numpy as np


def tokenize(path, seed, count=2_000_000):
    rng = np.random.default_rng(seed)
    rng.integers(0, 512, count, dtype=np.uint16).tofile(path)


def deduplicate(path, span=1000):
    tokens = np.fromfile(path, dtype=np.uint16)
    chunks = tokens[: len(tokens) // span * span].reshape(-1, span)
    seen, kept = set(), []
    for chunk in chunks:
        key = int(chunk[0]) % 97
        if key not in seen:
            seen.add(key)
            kept.append(chunk)
    result = np.concatenate(kept)
    result.tofile(path)
    return len(result)
