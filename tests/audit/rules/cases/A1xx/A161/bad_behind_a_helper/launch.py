import os

import torch.multiprocessing as mp


def launch(worker, count):
    os.environ["MASTER_ADDR"] = "127.0.0.1"
    mp.spawn(worker, nprocs=count)
