import torch
import torch.distributed as dist
from torch.nn.functional import cross_entropy
from torch.nn.parallel import DistributedDataParallel

from detector import Detector


class Frames:
    def __init__(self, rank, count=60):
        self.gen = torch.Generator().manual_seed(rank)
        self.rank, self.count = rank, count

    def __iter__(self):
        for number in range(self.count):
            anchors = torch.randn(40, 8, generator=self.gen)
            scores = torch.rand(40, generator=self.gen)
            if self.rank == 1 and number == 33:
                scores = torch.zeros(40)
            yield anchors, scores, torch.randint(0, 3, (4,), generator=self.gen)


def main():
    dist.init_process_group("gloo")
    torch.manual_seed(0)
    model = DistributedDataParallel(Detector())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for number, (anchors, scores, target) in enumerate(Frames(dist.get_rank())):
        loss = cross_entropy(model(anchors, scores), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if number % 10 == 0 and dist.get_rank() == 0:
            print("frame", number, loss.item(), flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
