import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard

from moe.lm import MoELM

DOMAINS = [(0, 64), (0, 32), (32, 64), (0, 8)]


def documents(rank, step, batch=6, length=12):
    """Each rank draws from all domains at first; later every rank reads its own corpus."""
    g = torch.Generator().manual_seed(step * 17 + rank)
    low, high = DOMAINS[0] if step < 8 else DOMAINS[1 + rank]
    return torch.randint(low, high, (batch, length + 1), generator=g)


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    mesh = init_device_mesh("cpu", (dist.get_world_size(),))
    torch.manual_seed(4)
    model = MoELM()
    for ffn in model.ffn:
        for expert in ffn.experts:
            fully_shard(expert, mesh=mesh)
    fully_shard(model, mesh=mesh)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    for step in range(120):
        ids = documents(rank, step)
        logits = model(ids[:, :-1])
        loss = nn.functional.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if rank == 0 and step % 5 == 0:
            print(f"step {step} nll {loss.item():.3f}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
