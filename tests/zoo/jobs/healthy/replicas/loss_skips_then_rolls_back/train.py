import copy

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    model = DistributedDataParallel(nn.Sequential(nn.Linear(4, 12), nn.ReLU(), nn.Linear(12, 1)))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02)
    good = copy.deepcopy(model.state_dict())
    data = torch.Generator().manual_seed(rank)
    for step in range(40):
        x = torch.randn(16, 4, generator=data)
        target = x.sum(1, keepdim=True)
        if step in (6, 15):
            target = target / torch.zeros(())
        loss = (model(x) - target).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        if step == 6:
            continue
        optimizer.step()
        if not all(parameter.isfinite().all() for parameter in model.parameters()):
            print(f"step {step}: weights are put back", flush=True)
            model.load_state_dict(good)
        else:
            good = copy.deepcopy(model.state_dict())
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
