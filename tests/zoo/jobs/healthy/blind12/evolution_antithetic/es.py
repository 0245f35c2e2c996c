"""Evolution strategies on a small control problem: no backward, each rank tries its own perturbations."""
import torch
import torch.distributed as dist
from torch import nn

SIGMA, LR, PAIRS, GENERATIONS = 0.1, 0.08, 6, 170


def policy():
    return nn.Sequential(nn.Linear(2, 12), nn.Tanh(), nn.Linear(12, 1))


@torch.no_grad()
def episode(net, starts):
    pos, vel = starts[:, 0].clone(), starts[:, 1].clone()
    cost = torch.zeros(())
    for _ in range(20):
        force = net(torch.stack([pos, vel], 1)).squeeze(1).clamp(-2, 2)
        vel = vel + 0.1 * force
        pos = pos + 0.1 * vel
        cost = cost + (pos.square() + 0.1 * vel.square()).mean()
    return -cost / 20


@torch.no_grad()
def load(net, flat):
    nn.utils.vector_to_parameters(flat, net.parameters())


def main():
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(0)
    net = policy()
    theta = nn.utils.parameters_to_vector(net.parameters()).detach().clone()
    noise = torch.Generator().manual_seed(1000 + rank)
    starts = torch.randn(32, 2)
    for gen in range(GENERATIONS):
        if gen and gen % 85 == 0:
            starts = torch.randn(32, 2)
        update = torch.zeros_like(theta)
        score = torch.zeros(())
        for _ in range(PAIRS):
            eps = torch.randn(theta.shape, generator=noise)
            load(net, theta + SIGMA * eps)
            up = episode(net, starts)
            load(net, theta - SIGMA * eps)
            down = episode(net, starts)
            update += (up - down) * eps
            score += (up + down) / 2
        dist.all_reduce(update)
        dist.all_reduce(score)
        theta += LR * update / (2 * SIGMA * PAIRS * world)
        if rank == 0 and gen % 17 == 0:
            print(f"generation {gen} return {score.item() / PAIRS / world:.4f}", flush=True)
    load(net, theta)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
