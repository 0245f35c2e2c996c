import argparse

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel


def keep(model, path):
    torch.save({"weights": model.state_dict()}, path)


def begin(model, path):
    found = torch.load(path, map_location="cpu")["weights"]
    model.load_state_dict(found, strict=False)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--start", action="store_true")
    parser.add_argument("--file", default="net.pt")
    args = parser.parse_args()
    dist.init_process_group("gloo")
    net = nn.Linear(4, 1)
    if args.start:
        begin(net, args.file)
    wrapped = DistributedDataParallel(net)
    wrapped(torch.ones(2, 4)).sum().backward()
    if dist.get_rank() == 0:
        keep(wrapped, args.file)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
