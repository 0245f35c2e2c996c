import argparse

import torch.multiprocessing as mp

from loop import train
from options import CONFIGS

if __name__ == "__main__":
    ap = argparse.ArgumentParser()
    ap.add_argument("--config", default="base")
    cfg = CONFIGS[ap.parse_args().config]
    mp.spawn(train, (cfg,), nprocs=cfg.world)
