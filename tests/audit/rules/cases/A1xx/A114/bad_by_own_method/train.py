import os

import torch
import torch.distributed as dist
import torch.nn as nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torchvision import models


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = models.resnet50()
        self.head = nn.Linear(1000, 10)

    def forward(self, x):
        return self.head(self.backbone(x))

    def freeze_backbone(self):
        self._train_backbone(False)

    def unfreeze_backbone(self):
        for p in self.backbone.parameters():
            p.requires_grad_(True)

    def _train_backbone(self, wanted):
        for p in self.backbone.parameters():
            p.requires_grad_(wanted)


class Trainer:
    def __init__(self, loader, device):
        self.loader, self.device = loader, device
        self.net = Net().to(device)
        self.net.freeze_backbone()
        self.model = self.wrap()
        self.optimizer = torch.optim.SGD(self.net.head.parameters(), 0.1)

    def wrap(self):
        return DDP(self.net, device_ids=[self.device.index])

    def start_finetuning(self):
        self.net.unfreeze_backbone()
        self.optimizer.add_param_group({"params": self.net.backbone.parameters()})

    def fit(self):
        for epoch in range(20):
            if epoch == 5:
                self.start_finetuning()
            for images in self.loader:
                self.optimizer.zero_grad()
                self.model(images).sum().backward()
                self.optimizer.step()


def main():
    dist.init_process_group("nccl")
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
    Trainer(torch.load("batches.pt"), device).fit()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
