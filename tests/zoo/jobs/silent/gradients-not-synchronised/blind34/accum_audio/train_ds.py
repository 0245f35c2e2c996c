import argparse
import json
import logging

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler

from nets import Clips, Tagger
from trainer import Trainer


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--conf", default="conf.json")
    p.add_argument("--output-dir", default="exp/tagger")
    args = p.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    with open(args.conf) as f:
        conf = json.load(f)
    dist.init_process_group("gloo")
    torch.manual_seed(7)
    train = conf["train"]
    data = Clips(classes=conf["model"]["classes"], **conf["data"])
    loader = DataLoader(data, train["batch_size"], sampler=DistributedSampler(data), drop_last=True)
    model = DDP(Tagger(**conf["model"]))
    optimizer = torch.optim.Adam(model.parameters(), lr=train["lr"])
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda s: min(1.0, (s + 1) / train["warmup"]))
    Trainer(model, optimizer, scheduler, loader, train, args.output_dir).run()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
