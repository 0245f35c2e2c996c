import os
import tempfile

import torch.multiprocessing as mp

from ranker import Config, entry

if __name__ == "__main__":
    world = int(os.environ.get("NPROC", "2"))
    init = "file://" + os.path.join(tempfile.mkdtemp(), "rdzv")
    mp.spawn(entry, args=(world, init, Config()), nprocs=world)
