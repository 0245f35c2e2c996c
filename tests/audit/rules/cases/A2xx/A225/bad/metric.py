import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset


class Score:
    def __init__(self):
        self.right = torch.zeros(())
        self.seen = 0

    def add(self, guess, label):
        self.right += (guess == label).sum()
        self.seen += len(label)

    def value(self):
        dist.all_reduce(self.right)
        return (self.right / self.seen).item()


def main():
    dist.init_process_group("gloo")
    data = TensorDataset(torch.randn(64, 4), torch.zeros(64))
    loader = DataLoader(data, 8, sampler=DistributedSampler(data, shuffle=False))
    model = DistributedDataParallel(nn.Linear(4, 2))
    score = Score()
    for x, y in loader:
        score.add(model(x).argmax(1), y)
    print(score.value())
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
