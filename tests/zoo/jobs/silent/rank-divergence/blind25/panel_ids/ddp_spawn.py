import os
import tempfile

import torch.multiprocessing as mp

from forecast.fit import run

if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as d:
        mp.start_processes(run, args=(2, os.path.join(d, "store"), 10), nprocs=2, start_method="spawn")
