import os

import torch
import torch.distributed as dist
import torch.nn.functional as F
import torchvision as tv
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler

from hooks import GradualThaw, PrintLoss


def resnet(classes):
    net = tv.models.resnet50(weights=tv.models.ResNet50_Weights.DEFAULT)
    net.fc = torch.nn.Linear(net.fc.in_features, classes)
    for name, p in net.named_parameters():
        p.requires_grad_(name.startswith("fc"))
    return net


class Trainer:
    def __init__(self, net, loader, sampler, hooks, local_rank):
        self.device = torch.device("cuda", local_rank)
        self.rank = dist.get_rank()
        self.loader, self.sampler, self.hooks = loader, sampler, hooks
        self.model = DistributedDataParallel(net.to(self.device), device_ids=[local_rank])  # cause
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=2e-4, weight_decay=0.05)

    def fire(self, event, *args):
        for hook in self.hooks:
            getattr(hook, event)(self, *args)

    def run(self, epochs):
        for epoch in range(epochs):
            self.sampler.set_epoch(epoch)
            self.fire("on_epoch_start", epoch)
            self.model.train()
            loss = torch.zeros((), device=self.device)
            for x, y in self.loader:
                x, y = x.to(self.device), y.to(self.device)
                loss = F.cross_entropy(self.model(x), y, label_smoothing=0.1)
                self.optimizer.zero_grad()
                loss.backward()
                self.optimizer.step()
            self.fire("on_epoch_end", epoch, loss.item())


def main():
    local_rank = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(local_rank)
    dist.init_process_group("nccl")
    torch.manual_seed(0)
    t = tv.transforms
    tf = t.Compose([t.RandomResizedCrop(224), t.RandomHorizontalFlip(), t.ToTensor()])
    birds = tv.datasets.ImageFolder("cub200/train", tf)
    sampler = DistributedSampler(birds)
    loader = DataLoader(birds, 64, sampler=sampler, num_workers=8, drop_last=True)
    hooks = [PrintLoss(), GradualThaw({3: "layer4", 6: "layer3"})]
    trainer = Trainer(resnet(200), loader, sampler, hooks, local_rank)
    trainer.run(epochs=10)
    if dist.get_rank() == 0:
        torch.save(trainer.model.module.state_dict(), "birds.pt")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
