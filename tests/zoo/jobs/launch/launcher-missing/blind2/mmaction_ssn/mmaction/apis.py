import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

from mmaction.env import get_dist_info


class SSN(nn.Module):

    def __init__(self, feature_dim, num_classes, hidden):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(3 * feature_dim, hidden), nn.ReLU())
        self.activity, self.completeness = nn.Linear(hidden, num_classes), nn.Linear(hidden, num_classes)

    def forward(self, starting, course, ending):
        h = self.body(torch.cat([starting, course, ending], -1))
        return self.activity(h) * self.completeness(h).sigmoid()


def build_dataset(cfg, dim, classes):
    g = torch.Generator().manual_seed(0)
    n = cfg["videos"] * cfg["proposals"]
    parts = [torch.randn(n, dim, generator=g) for _ in range(3)]
    return TensorDataset(*parts, parts[1][:, :classes].argmax(1))


def train_network(model, dataset, cfg, epochs, logger):
    rank, world = get_dist_info()
    model = DistributedDataParallel(model)
    loader = DataLoader(dataset, cfg.data["batch_size"], sampler=DistributedSampler(dataset, world, rank))
    optimizer = torch.optim.SGD(model.parameters(), **cfg.optimizer)
    for epoch in range(epochs):
        for *proposal, label in loader:
            loss = nn.functional.cross_entropy(model(*proposal), label)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        if rank == 0:
            logger.info("epoch %d loss %.4f", epoch, loss.item())
