import torch
import torch.distributed as dist
from torch import nn

from experiment import Experiment, Tracker


def share(config):
    box = [config]
    dist.broadcast_object_list(box, src=0)
    return box[0]


def main():
    dist.init_process_group("gloo")
    config = None
    if dist.get_rank() == 0:
        config = Experiment(lr=0.1, steps=20, seed=3)
        config.attach(Tracker("blocks"))
    config = share(config)
    torch.manual_seed(config["seed"])
    model = nn.parallel.DistributedDataParallel(nn.Linear(3, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=config["lr"])
    for step in range(config["steps"]):
        x = torch.randn(4, 3)
        loss = model(x).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
