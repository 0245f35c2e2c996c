import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel


class SRNet(nn.Module):
    def __init__(self, nf=16):
        super().__init__()
        self.head = nn.Conv2d(1, nf, 3, padding=1)
        self.body = nn.Sequential(nn.ReLU(), nn.Conv2d(nf, nf, 3, padding=1), nn.ReLU(), nn.Conv2d(nf, nf, 3, padding=1))
        self.tail = nn.Sequential(nn.Conv2d(nf, 4, 3, padding=1), nn.PixelShuffle(2))

    def forward(self, x):
        h = self.head(x)
        return self.tail(h + self.body(h))


class ModelPlain:
    def __init__(self, opt):
        self.opt = opt
        self.netG = DistributedDataParallel(SRNet()) if opt["dist"] else SRNet()
        self.netE = SRNet().eval()
        self.netE.load_state_dict(self.bare(self.netG).state_dict())
        self.G_optimizer = torch.optim.Adam(self.netG.parameters(), lr=opt["G_optimizer_lr"])
        self.schedulers = [torch.optim.lr_scheduler.MultiStepLR(self.G_optimizer, opt["milestones"], 0.5)]
        self.log_dict = {}

    @staticmethod
    def bare(net):
        return net.module if isinstance(net, DistributedDataParallel) else net

    def update_learning_rate(self, n):
        for scheduler in self.schedulers:
            scheduler.step()

    def feed_data(self, data):
        self.L, self.H = data["L"], data["H"]

    @torch.no_grad()
    def update_E(self, decay=0.99):
        for e, g in zip(self.netE.parameters(), self.bare(self.netG).parameters()):
            e.mul_(decay).add_(g, alpha=1 - decay)

    def optimize_parameters(self, current_step):
        self.G_optimizer.zero_grad()
        loss = nn.functional.l1_loss(self.netG(self.L), self.H)
        loss.backward()
        self.G_optimizer.step()
        self.log_dict["G_loss"] = loss.item()
        self.update_E()
