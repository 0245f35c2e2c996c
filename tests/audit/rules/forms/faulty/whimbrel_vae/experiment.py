import os

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

from vae import VAE


class Experiment:
    def __init__(self, device, data="digits.pt", batch=200, lr=1e-3):
        torch.manual_seed(42)
        self.device = device
        self.core = VAE().to(device)  # cause
        self.net = DistributedDataParallel(self.core, device_ids=[device.index])  # cause
        torch.manual_seed(420 + dist.get_rank())
        self.opt = torch.optim.Adam(self.net.parameters(), lr=lr)
        ds = TensorDataset(torch.load(data, map_location="cpu", weights_only=True).float())
        self.order = DistributedSampler(ds, drop_last=True)
        self.loader = DataLoader(ds, batch, sampler=self.order, drop_last=True, num_workers=2, pin_memory=True)

    def step(self, x):
        loss = self.core.elbo(x)  # cause
        self.opt.zero_grad(set_to_none=True)
        loss.backward()
        self.opt.step()
        return loss.detach()

    def fit(self, epochs):
        for epoch in range(epochs):
            self.order.set_epoch(epoch)
            total = torch.zeros((), device=self.device)
            for (x,) in self.loader:
                total += self.step(x.flatten(1).to(self.device, non_blocking=True))
            total /= len(self.loader)
            dist.all_reduce(total, op=dist.ReduceOp.AVG)
            if dist.get_rank() == 0:
                print(epoch, f"{total.item():.2f}", flush=True)
                torch.save(self.net.module.state_dict(), "vae.pt")


def main():
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
    torch.cuda.set_device(device)
    dist.init_process_group("nccl", device_id=device)
    Experiment(device).fit(int(os.environ.get("EPOCHS", "100")))
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
