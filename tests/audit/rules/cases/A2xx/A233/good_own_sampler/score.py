import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, Dataset
from torch.utils.data import Sampler


class InOrder(Sampler):
    def __init__(self, data):
        self.each = -(-len(data) // dist.get_world_size())
        self.first = self.each * dist.get_rank()

    def __iter__(self):
        return iter(range(self.first, self.first + self.each))

    def __len__(self):
        return self.each


class Cells(Dataset):
    def __init__(self, path):
        blob = torch.load(path, map_location="cpu", weights_only=True)
        self.images, self.labels = blob["images"], blob["labels"]

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, i):
        return self.images[i], self.labels[i]


def evaluate(model, cells):
    loader = DataLoader(cells, 32, sampler=InOrder(cells))
    scores = []
    for image, _ in loader:
        scores.append(model(image).sigmoid())
    scores = torch.cat(scores)
    parts = [torch.empty_like(scores) for _ in range(dist.get_world_size())]
    dist.all_gather(parts, scores)
    everything = torch.cat(parts, dim=0)
    return ((everything[: len(cells)] > 0.5) == cells.labels.bool()).float().mean()


def main():
    dist.init_process_group("gloo")
    model = torch.nn.Linear(16, 1)
    with torch.no_grad():
        print(evaluate(model, Cells("cells.pt")))
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
