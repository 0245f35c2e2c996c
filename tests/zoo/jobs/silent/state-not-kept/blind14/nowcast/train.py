import argparse
import json
import logging
import os

import torch.distributed as dist

from wx.trainer import Trainer


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--config", default="wx.json")
    ap.add_argument("--until", type=int, required=True)
    ap.add_argument("--ckpt", default="ckpt/last.pt")
    args = ap.parse_args()
    with open(args.config) as f:
        cfg = json.load(f)
    dist.init_process_group("gloo")
    logging.basicConfig(level=logging.INFO if dist.get_rank() == 0 else logging.WARNING, format="%(name)s %(message)s")
    trainer = Trainer(cfg)
    if os.path.exists(args.ckpt):
        trainer.resume(args.ckpt)
    trainer.fit(args.until)
    trainer.save(args.ckpt)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
