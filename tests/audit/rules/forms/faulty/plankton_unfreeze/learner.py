import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel


class Net(nn.Module):
    def __init__(self, backbone, dim, classes):
        super().__init__()
        self.backbone = backbone
        self.head = nn.Sequential(nn.LayerNorm(dim), nn.Linear(dim, classes))

    def forward(self, x):
        return self.head(self.backbone(x))


class Learner:
    def __init__(self, backbone, dim, classes, device, hooks):
        backbone.requires_grad_(False)  # cause
        net = Net(backbone, dim, classes).to(device)
        self.device = device
        self.hooks = hooks
        self.net = DistributedDataParallel(net, device_ids=[device.index])  # cause
        self.backbone = self.net.module.backbone
        self.opt = torch.optim.AdamW([p for p in self.net.parameters() if p.requires_grad], lr=1e-3)

    def epoch(self, n, loader):
        for hook in self.hooks:
            hook.before_epoch(n, self)
        loader.sampler.set_epoch(n)
        for x, y in loader:
            loss = nn.functional.cross_entropy(self.net(x.to(self.device)), y.to(self.device))
            self.opt.zero_grad(set_to_none=True)
            loss.backward()
            self.opt.step()
        return loss.item()
