import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset


@torch.no_grad()
def share_statistics(module):
    for buffer in module.buffers():
        if buffer.is_floating_point():
            dist.all_reduce(buffer)
            buffer /= dist.get_world_size()


@torch.no_grad()
def evaluate(module, data):
    module.eval()
    hits = sum((module(x).argmax(1) == y).sum().item() for x, y in DataLoader(data, batch_size=100))
    module.train()
    return hits / len(data)


def main():
    dist.init_process_group("gloo")
    torch.manual_seed(0)
    x = torch.randn(1700, 16)
    y = (x @ torch.randn(16, 4)).argmax(1)
    train, valid = TensorDataset(x[:1500], y[:1500]), TensorDataset(x[1500:], y[1500:])
    sampler = DistributedSampler(train)
    loader = DataLoader(train, batch_size=10, sampler=sampler)
    net = nn.Sequential(nn.Linear(16, 48), nn.BatchNorm1d(48), nn.ReLU(), nn.Linear(48, 4))
    model = DDP(net, broadcast_buffers=False)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    for epoch in range(3):
        sampler.set_epoch(epoch)
        for xb, yb in loader:
            loss = nn.functional.cross_entropy(model(xb), yb)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        share_statistics(net)
        accuracy = evaluate(net, valid)
        if dist.get_rank() == 0:
            print(f"epoch {epoch} loss {loss.item():.3f} accuracy {accuracy:.3f}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
