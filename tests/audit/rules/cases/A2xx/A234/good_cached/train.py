import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler


def main(backbone):
    dist.init_process_group("nccl")
    data = torch.load("set.pt")
    loader = DataLoader(data, 16, sampler=DistributedSampler(data))
    features = []
    with torch.no_grad():
        for x, y in loader:
            features.append((backbone(x).mean(dim=(2, 3)), y))
    model = DistributedDataParallel(torch.nn.Linear(3, 1))
    optimizer = torch.optim.Adam(model.parameters())
    for _ in range(10):
        for feature, y in features:
            loss = (model(feature) - y).abs().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()


main(torch.hub.load("pytorch/vision", "resnet18"))
