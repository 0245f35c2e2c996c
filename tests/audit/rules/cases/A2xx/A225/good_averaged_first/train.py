import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset


class Meter:
    def __init__(self):
        self.sum, self.count = 0.0, 0

    def update(self, value, n):
        self.sum += value * n
        self.count += n
        self.mean = self.sum / self.count


def reduce_mean(tensor, world_size):
    result = tensor.clone()
    dist.all_reduce(result, op=dist.ReduceOp.SUM)
    result /= world_size
    return result


def main():
    dist.init_process_group("gloo")
    data = TensorDataset(torch.randn(64, 4), torch.zeros(64).long())
    loader = DataLoader(data, 8, sampler=DistributedSampler(data, shuffle=False))
    model = DistributedDataParallel(nn.Linear(4, 2))
    losses = Meter()
    for x, y in loader:
        loss = nn.functional.cross_entropy(model(x), y)
        losses.update(reduce_mean(loss.detach(), dist.get_world_size()).item(), x.size(0))
    print(losses.mean)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
