import torch
import torch.distributed as dist
from torch import nn

from layers import Backbone, reset


def setup():
    torch.manual_seed(11)
    model = Backbone()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2, weight_decay=0.0)
    model = reset(model)
    return nn.parallel.DistributedDataParallel(model), optimizer


def main():
    dist.init_process_group("gloo")
    model, optimizer = setup()
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 120)
    for step in range(120):
        x = torch.randn(32, 8)
        loss = nn.functional.mse_loss(model(x), x[:, :1] * x[:, 1:2])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        if step % 30 == 0 and dist.get_rank() == 0:
            print(f"step {step} loss {loss.item():.4f}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
