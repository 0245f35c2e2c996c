import argparse

import torch.distributed as dist

from leaves.session import Session

if __name__ == "__main__":
    p = argparse.ArgumentParser()
    p.add_argument("--classes", type=int, default=6)
    p.add_argument("--batch-size", type=int, default=20)
    p.add_argument("--epochs", type=int, default=8)
    p.add_argument("--epochs-per-job", type=int, default=4)
    p.add_argument("--patience", type=int, default=4)
    p.add_argument("--lr", type=float, default=0.004)
    p.add_argument("--seed", type=int, default=0)
    p.add_argument("--ckpt", default="session.pt")
    args = p.parse_args()
    dist.init_process_group("gloo")
    s = Session(args)
    s.restore(args.ckpt)
    s.run()
    dist.destroy_process_group()
