import argparse
import logging
import os
import sys

import torch
import torch.distributed as dist

from loop import Loop, LoopConfig

log = logging.getLogger("app")


def parse(argv):
    ap = argparse.ArgumentParser()
    ap.add_argument("--graph", required=True)
    ap.add_argument("--epochs", type=int, default=200)
    ap.add_argument("--hidden", type=int, default=256)
    ap.add_argument("--lr", type=float, default=5e-3)
    return ap.parse_args(argv)


def setup_logging(rank):
    level = logging.INFO if rank == 0 else logging.WARNING
    logging.basicConfig(level=level, format=f"%(asctime)s r{rank} %(name)s %(message)s")


def main(argv=None):
    args = parse(argv)
    local = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(local)
    dist.init_process_group("nccl", device_id=torch.device("cuda", local))
    setup_logging(dist.get_rank())
    cfg = LoopConfig(graph=args.graph, epochs=args.epochs, hidden=args.hidden, lr=args.lr)
    try:
        Loop(cfg, torch.device("cuda", local)).run()
    except Exception:
        log.exception("training stopped")
        return 1
    else:
        dist.barrier()
        dist.destroy_process_group()
    return 0


if __name__ == "__main__":
    sys.exit(main())
