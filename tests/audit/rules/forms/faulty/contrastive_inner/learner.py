import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn
from torch.nn.parallel import DistributedDataParallel


class TwoTower(nn.Module):
    def __init__(self, d_img, d_txt, dim=256):
        super().__init__()
        self.image = nn.Sequential(nn.Linear(d_img, 512), nn.GELU(), nn.Linear(512, dim))
        self.text = nn.Sequential(nn.Linear(d_txt, 512), nn.GELU(), nn.Linear(512, dim))
        self.scale = nn.Parameter(torch.tensor(2.6))

    def encode(self, img, txt):
        return F.normalize(self.image(img), dim=-1), F.normalize(self.text(txt), dim=-1)

    def forward(self, img, txt):
        a, b = self.encode(img, txt)
        return a, b, self.scale.exp()


class Learner:
    def __init__(self, net, device, lr):
        self.net = DistributedDataParallel(net.to(device), device_ids=[device.index])
        self.core = self.net.module  # cause
        self.opt = torch.optim.AdamW(self.net.parameters(), lr=lr)
        self.device = device

    def objective(self, img, txt):
        a, b, scale = self.core(img, txt)  # cause
        logits = scale * a @ b.t()
        target = torch.arange(len(a), device=self.device)
        return (F.cross_entropy(logits, target) + F.cross_entropy(logits.t(), target)) / 2

    def step(self, batch):
        img, txt = (t.to(self.device) for t in batch)
        loss = self.objective(img, txt)  # cause
        self.opt.zero_grad(set_to_none=True)
        loss.backward()
        self.opt.step()
        return loss.item()

    def export(self, path):
        if dist.get_rank() == 0:
            torch.save(self.core.state_dict(), path)
