import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler


class Average:
    def __init__(self, model, decay=0.999):
        self.decay = decay
        self.kept = {key: one.clone() for key, one in model.state_dict().items()}

    @torch.no_grad()
    def update(self, state):
        for key, one in state.items():
            if key in self.kept and one.is_floating_point():
                self.kept[key].mul_(self.decay).add_(one, alpha=1 - self.decay)


def main(net, data):
    dist.init_process_group("nccl")
    average = Average(net)
    model = DDP(net)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    sampler = DistributedSampler(data)
    loader = DataLoader(data, 32, sampler=sampler)
    for epoch in range(10):
        sampler.set_epoch(epoch)
        for x, y in loader:
            loss = (model(x) - y).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            average.update(model.state_dict())
    if dist.get_rank() == 0:
        torch.save(average.kept, "average.pt")
    dist.destroy_process_group()
