import torch
import torch.distributed as dist
from torch import nn
from torch.nn import functional as F
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler


def main():
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    torch.manual_seed(0)
    data = TensorDataset(torch.randn(1280, 4))
    sampler = DistributedSampler(data)
    loader = DataLoader(data, batch_size=8, sampler=sampler)
    model = DistributedDataParallel(nn.Linear(4, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    schedule = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.05, total_iters=2 * len(loader) // 4)
    for epoch in range(2):
        sampler.set_epoch(epoch)
        for index, (x,) in enumerate(loader, 1):
            loss = F.mse_loss(model(x), x.sum(1, keepdim=True)) / 4
            loss.backward()
            if index % 4 == 0:
                optimizer.step()
                optimizer.zero_grad()
            schedule.step()
        if dist.get_rank() == 0:
            print(f"epoch {epoch} rate {schedule.get_last_lr()[0]:.4f}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
