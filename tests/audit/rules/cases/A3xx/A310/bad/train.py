"""The scheduler steps with each micro-batch, the optimizer with each fourth: the rate falls four times too fast."""
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

ACCUMULATE = 4
STEPS = 1000


def main():
    dist.init_process_group("gloo")
    model = DDP(torch.nn.Linear(4, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=STEPS)
    for micro in range(STEPS * ACCUMULATE):
        loss = model(torch.randn(8, 4)).square().mean() / ACCUMULATE
        loss.backward()
        if (micro + 1) % ACCUMULATE == 0:
            optimizer.step()
            optimizer.zero_grad()
        scheduler.step()  # cause
    dist.destroy_process_group()


main()
