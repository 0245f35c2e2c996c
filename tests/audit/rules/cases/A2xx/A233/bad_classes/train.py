import torch
import torch.distributed as dist
from sklearn.metrics import f1_score
from torch import nn
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset


def collect(part, size):
    parts = [torch.empty_like(part) for _ in range(dist.get_world_size())]
    dist.all_gather(parts, part)
    return torch.cat(parts)[:size]


def of_each_class(scores, labels, classes):
    pred = scores.argmax(1)
    return [(pred[labels == c] == c).float().mean() for c in range(classes)]


def main():
    dist.init_process_group("gloo")
    val_set = TensorDataset(torch.load("x.pt"), torch.load("y.pt"))
    loader = DataLoader(val_set, 100, sampler=DistributedSampler(val_set, shuffle=False))
    model = nn.Linear(24, 6)
    scores = collect(torch.cat([model(x) for x, _ in loader]), len(val_set))
    print(of_each_class(scores, val_set.tensors[1], 6), f1_score(val_set.tensors[1], scores.argmax(1)))
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
