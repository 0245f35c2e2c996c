import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler


class Job:
    def __init__(self, net, path):
        self.model = DDP(net)
        self.resume(self.model.module, path)

    def resume(self, net, path):
        if dist.is_initialized():
            state = torch.load(path, map_location="cpu")
            net.load_state_dict(state["model"])

    def fit(self, loader, sampler):
        optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)
        for epoch in range(4):
            sampler.set_epoch(epoch)
            for x, y in loader:
                loss = (self.model(x) - y).square().mean()
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()


def main():
    dist.init_process_group("gloo")
    data = torch.utils.data.TensorDataset(torch.rand(8, 4), torch.rand(8, 4))
    sampler = DistributedSampler(data)
    Job(torch.nn.Linear(4, 4), "last.pt").fit(DataLoader(data, 2, sampler=sampler), sampler)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
