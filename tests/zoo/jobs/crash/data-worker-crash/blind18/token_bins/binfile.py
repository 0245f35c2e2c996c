import json
import os

import numpy as np

HEADROOM = 1 << 20


class BinWriter:
    def __init__(self, path):
        self.path = path
        self.fh = open(path, "wb")
        self.fh.truncate(HEADROOM)
        self.tokens = 0

    def add(self, ids):
        arr = np.asarray(ids, dtype=np.uint16)
        self.fh.write(arr.tobytes())
        self.tokens += len(arr)

    def close(self):
        self.fh.close()
        with open(self.path + ".json", "w") as f:
            json.dump({"tokens": self.tokens}, f)


class BinReader:
    def __init__(self, path):
        self.path = path
        self.data = np.memmap(path, dtype=np.uint16, mode="r")

    def __len__(self):
        return len(self.data)

    def window(self, start, n):
        return self.data[start:start + n].astype(np.int64)


def compact(path):
    with open(path + ".json") as f:
        used = 2 * json.load(f)["tokens"]
    if os.path.getsize(path) > used:
        os.truncate(path, used)
