import torch
import torch.distributed as dist
from torch import nn
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset


def merge(model):
    state = model.state_dict()
    for value in state.values():
        dist.all_reduce(value)
        value /= dist.get_world_size()
    model.load_state_dict(state)


def main():
    dist.init_process_group("gloo")
    torch.manual_seed(0)
    x = torch.randn(480, 5)
    data = TensorDataset(x, (x[:, :1] > 0).float())
    loader = DataLoader(data, batch_size=8, sampler=DistributedSampler(data, shuffle=False))
    model = nn.Sequential(nn.Linear(5, 10), nn.Tanh(), nn.Linear(10, 1))
    for number in range(2):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for features, target in loader:
            optimizer.zero_grad()
            loss = nn.functional.binary_cross_entropy_with_logits(model(features), target)
            loss.backward()
            optimizer.step()
        merge(model)
    print(f"rank {dist.get_rank()}: {loss.item():.4f}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
