import torch
import torch.distributed as dist
from torch import nn
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

from model import Stack, StackConfig
from parallel import begin, wrap


def fit(device, epochs=30):
    torch.manual_seed(5)
    net = wrap(Stack(StackConfig()), device)
    blob = torch.load("phones.pt", map_location="cpu", weights_only=True)
    ds = TensorDataset(blob["mel"], blob["phone"])
    order = DistributedSampler(ds, drop_last=True)
    loader = DataLoader(ds, 24, sampler=order, drop_last=True, pin_memory=True)
    opt = torch.optim.AdamW(net.parameters(), lr=4e-4, weight_decay=0.01)
    sched = torch.optim.lr_scheduler.LinearLR(opt, 0.01, 1.0, 2000)
    for epoch in range(epochs):
        order.set_epoch(epoch)
        for mel, phone in loader:
            logits = net(mel.to(device, non_blocking=True))
            loss = nn.functional.cross_entropy(logits.transpose(1, 2), phone.to(device, non_blocking=True))
            opt.zero_grad(set_to_none=True)
            loss.backward()
            nn.utils.clip_grad_norm_(net.parameters(), 2.0)
            opt.step()
            sched.step()
        if dist.get_rank() == 0:
            torch.save(net.module.state_dict(), "phones_net.pt")


if __name__ == "__main__":
    fit(begin())
    dist.destroy_process_group()
