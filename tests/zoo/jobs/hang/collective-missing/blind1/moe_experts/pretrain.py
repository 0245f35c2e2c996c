import torch
import torch.distributed as dist

from moe.layer import ExpertParallelMLP
from moe.optim import average_shared, clip_grad_norm_, split_parameters


def corpus(rank, steps, tokens=6, dim=16):
    gen = torch.Generator().manual_seed(rank)
    for step in range(steps):
        yield torch.randn(tokens, dim, generator=gen) * (1.0 if step < 12 else 0.3) + (0 if step < 12 else 1.5)


def train(steps=40, dim=16):
    torch.manual_seed(5)
    model = ExpertParallelMLP(dim, 32)
    with torch.no_grad():
        model.router.weight.copy_(torch.eye(dist.get_world_size(), dim) * 3)
        model.router.weight[3, 4:] = -1.0
    experts, shared = split_parameters(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    for step, tokens in enumerate(corpus(dist.get_rank(), steps)):
        optimizer.zero_grad(set_to_none=True)
        routed = model(tokens)
        if routed is not None:
            out, target = routed
            (out - target).pow(2).mean().backward()
        average_shared(shared)
        norm = clip_grad_norm_(experts, shared, max_norm=1.0)
        optimizer.step()
        if dist.get_rank() == 0 and step % 5 == 0:
            print(f"step {step} grad norm {norm:.3f}", flush=True)


if __name__ == "__main__":
    dist.init_process_group("gloo")
    train()
    dist.destroy_process_group()
