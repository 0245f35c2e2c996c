import os
import sys

import torch
import torch.distributed as dist
from torch import nn
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

from learner import Learner
from schedule import Thaw


def pretrained(path):
    net = nn.Sequential(nn.Conv2d(1, 64, 5, 2), nn.GELU(), nn.Conv2d(64, 128, 3, 2), nn.GELU(),
                        nn.AdaptiveAvgPool2d(1), nn.Flatten())
    net.load_state_dict(torch.load(path, map_location="cpu"))
    return net


def main(data_path, weights):
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
    torch.cuda.set_device(device)
    dist.init_process_group("nccl")
    b = torch.load(data_path, map_location="cpu")
    data = TensorDataset(b["x"], b["y"])
    loader = DataLoader(data, 64, sampler=DistributedSampler(data), num_workers=2, drop_last=True)
    learner = Learner(pretrained(weights), 128, int(b["y"].max()) + 1, device, [Thaw()])
    for n in range(20):
        loss = learner.epoch(n, loader)
        if dist.get_rank() == 0:
            print(n, loss)
            torch.save(learner.net.module.state_dict(), "plankton.pt")
    dist.destroy_process_group()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
