import torch
import torch.distributed as dist
from torch import nn

from hooks import HOOKS

CONFIG = {"epochs": 4, "hooks": [("external_eval", {"every": 2})]}


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    hooks = [HOOKS[name](**options) for name, options in CONFIG["hooks"]]
    model = nn.parallel.DistributedDataParallel(nn.Linear(6, 3))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for epoch in range(CONFIG["epochs"]):
        for _ in range(10):
            x = torch.randn(8, 6)
            loss = (model(x) - x[:, :3]).pow(2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        for hook in hooks:
            hook.after_epoch(rank, epoch, model)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
