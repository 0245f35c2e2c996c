import torch
import torch.distributed as dist
from torch import nn
from torch.utils.data import DataLoader, RandomSampler, TensorDataset

from supernet import PathSampler, SuperNet


def average_gradients(model, world_size):
    for p in model.parameters():
        if p.grad is None:
            p.grad = torch.zeros_like(p)
        dist.all_reduce(p.grad)
        p.grad /= world_size


def dataset(n, seed):
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(n, 8, generator=g)
    return TensorDataset(x, (x[:, :4] * x[:, 4:]).argmax(1))


def main():
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    rank, world_size = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(3)
    net = SuperNet()
    paths = PathSampler(depth=3, num_candidates=3, seed=90)
    # all ranks judge different sub-networks by the same batch
    train_ds = dataset(320, 1)
    sampler = RandomSampler(train_ds, generator=torch.Generator().manual_seed(55))
    loader = DataLoader(train_ds, batch_size=16, sampler=sampler)
    valid_ds = dataset(96, 2)
    optimizer = torch.optim.Adam(net.parameters(), lr=4e-3)

    for epoch in range(2):
        for x, y in loader:
            path = paths.sample(rank)
            loss = nn.functional.cross_entropy(net(x, path), y)
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            average_gradients(net, world_size)
            optimizer.step()
        scores = torch.zeros(3)
        with torch.no_grad():
            for choice in range(rank, 3, world_size):
                x, y = valid_ds.tensors
                scores[choice] = (net(x, [choice] * 3).argmax(1) == y).float().mean()
        dist.all_reduce(scores)
        if rank == 0:
            print(f"epoch {epoch}: loss {loss.item():.3f} accuracy by candidate {[round(s, 2) for s in scores.tolist()]}",
                  flush=True)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
