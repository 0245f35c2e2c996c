"""Builds geometry files in processes of their own."""
import concurrent.futures
import json
import math
import os
from concurrent.futures.process import BrokenProcessPool


def build_entry(folder, key):
    marker = os.path.join(folder, f".{key}.tried")
    if key == "1abc" and not os.path.exists(marker):
        open(marker, "w").close()
        os._exit(9)
    points = [[math.cos(i * 0.1), math.sin(i * 0.1), len(key) * 0.01 * i] for i in range(200)]
    path = os.path.join(folder, f"{key}.json")
    with open(path + ".part", "w") as handle:
        json.dump(points, handle)
    os.replace(path + ".part", path)
    return key


def missing_entries(folder, keys):
    return [key for key in keys if not os.path.exists(os.path.join(folder, f"{key}.json"))]


def build_cache(folder, keys, attempts=3):
    for attempt in range(attempts):
        missing = missing_entries(folder, keys)
        if not missing:
            return attempt
        try:
            with concurrent.futures.ProcessPoolExecutor(1) as pool:
                list(pool.map(build_entry, [folder] * len(missing), missing))
        except BrokenProcessPool:
            print(f"build_cache: a worker ended early, attempt {attempt + 1} of {attempts}", flush=True)
    if missing_entries(folder, keys):
        raise RuntimeError("the cache cannot be built")
    return attempts
