import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

SAVE_EVERY = 50


def save(model, optimizer, step):
    """Writes a checkpoint that survives a power cut."""
    with open("last.part", "wb") as file:
        torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "step": step}, file)
        file.flush()
        os.fsync(file.fileno())
    os.replace("last.part", "last.pt")


def main():
    dist.init_process_group("gloo")
    torch.manual_seed(0)
    levels = torch.randn(1600, 32, generator=torch.Generator().manual_seed(2))
    data = TensorDataset(levels, levels.mean(1, keepdim=True))
    sampler = DistributedSampler(data)
    loader = DataLoader(data, batch_size=8, sampler=sampler)
    model = nn.Sequential(nn.Embedding(120_000, 32), nn.Flatten(), nn.Linear(32 * 32, 1))
    model[0].weight.requires_grad_(False)
    wrapped = DistributedDataParallel(model)
    optimizer = torch.optim.SGD([one for one in model.parameters() if one.requires_grad], lr=1e-2)
    step = 0
    for epoch in range(2):
        sampler.set_epoch(epoch)
        for levels, mean in loader:
            optimizer.zero_grad()
            loss = nn.functional.mse_loss(wrapped((levels.abs() * 1000).long()), mean)
            loss.backward()
            optimizer.step()
            step += 1
            if dist.get_rank() == 0 and step % SAVE_EVERY == 0:
                save(wrapped.module, optimizer, step)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
