import argparse
import os

import torch.distributed as dist

from surrogate.trainer import Trainer

parser = argparse.ArgumentParser()
parser.add_argument("--out", default="ckpt")
parser.add_argument("--epochs", type=int, default=36)
parser.add_argument("--epochs-per-job", type=int, default=12)
parser.add_argument("--samples", type=int, default=64)
parser.add_argument("--batch-size", type=int, default=16)
parser.add_argument("--lr", type=float, default=2e-3)
parser.add_argument("--seed", type=int, default=0)

if __name__ == "__main__":
    cfg = parser.parse_args()
    os.makedirs(cfg.out, exist_ok=True)
    dist.init_process_group("gloo")
    trainer = Trainer(cfg)
    trainer.load_last()
    trainer.fit()
    if dist.get_rank() == 0:
        print(f"one-step test error {trainer.one_step_error():.4f}", flush=True)
    dist.barrier()
    dist.destroy_process_group()
