import os

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

from model import TwoTowers


class Fitter:
    def __init__(self, model, lr, steps):
        self.model = model
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=lr, weight_decay=0.1)
        self.schedule = torch.optim.lr_scheduler.CosineAnnealingLR(self.optimizer, steps)

    @property
    def net(self):
        return self.model.module if hasattr(self.model, "module") else self.model  # cause

    def step(self, image, text):
        loss = self.net.contrastive(image, text)  # cause
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        self.optimizer.step()
        self.schedule.step()
        return loss.detach()

    def export(self, path):
        torch.save(self.net.state_dict(), path)


def main():
    local = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(local)
    dist.init_process_group("nccl")
    torch.manual_seed(400)
    features = torch.load("pairs.pt", map_location="cpu")
    data = TensorDataset(features["image"], features["text"])
    sampler = DistributedSampler(data, seed=400)
    loader = DataLoader(data, 1024, sampler=sampler, num_workers=2, drop_last=True)
    epochs = 32
    model = DistributedDataParallel(TwoTowers().cuda(), device_ids=[local])
    fitter = Fitter(model, 1e-3, epochs * len(loader))
    for epoch in range(epochs):
        sampler.set_epoch(epoch)
        total = torch.zeros((), device="cuda")
        for image, text in loader:
            total += fitter.step(image.cuda(), text.cuda())
        dist.all_reduce(total)
        if dist.get_rank() == 0:
            print(epoch, total.item() / len(loader) / dist.get_world_size())
            fitter.export("towers.pt")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
