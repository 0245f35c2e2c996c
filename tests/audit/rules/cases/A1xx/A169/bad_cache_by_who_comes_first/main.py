import argparse
from pathlib import Path

import numpy as np
import torch.distributed as dist


class Tokens:
    def __init__(self, source, folder):
        cache = Path(folder) / "tokens.npy"
        if not cache.exists():
            self.encode(source, cache)
        self.rows = np.load(cache, mmap_mode="r")

    def encode(self, source, cache):
        np.save(cache, np.asarray([len(line) for line in source]))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--cache", default=".cache")
    args = parser.parse_args()
    dist.init_process_group("gloo")
    print(len(Tokens(["a", "b"], args.cache).rows))


if __name__ == "__main__":
    main()
