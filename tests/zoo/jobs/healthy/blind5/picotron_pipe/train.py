"""All-forward-all-backward pipeline over two stages."""
import torch
import torch.distributed as dist
from torch import nn

from stages import FirstStage, LastStage, microbatches

NUM_MICROBATCHES = 4
STEPS = 40
SHAPE = (4, 12, 32)


def afab_first(stage, step):
    outputs = []
    for ids, _ in microbatches(step, NUM_MICROBATCHES):
        out = stage(ids)
        dist.send(out.detach(), dst=1)
        outputs.append(out)
    for out in outputs:
        grad = torch.empty(SHAPE)
        dist.recv(grad, src=1)
        out.backward(grad)


def afab_last(stage, step):
    saved, total = [], 0.0
    for _, target in microbatches(step, NUM_MICROBATCHES):
        x = torch.empty(SHAPE)
        dist.recv(x, src=0)
        x.requires_grad_(True)
        loss = nn.functional.cross_entropy(stage(x).flatten(0, 1), target.flatten()) / NUM_MICROBATCHES
        saved.append((x, loss))
    for x, loss in saved:
        loss.backward()
        dist.send(x.grad, dst=0)
        total += loss.item()
    return total


def clip_by_global_norm(params, max_norm):
    norm = torch.stack([p.grad.square().sum() for p in params]).sum()
    dist.all_reduce(norm)
    scale = (max_norm / (norm.sqrt() + 1e-6)).clamp(max=1.0)
    for p in params:
        p.grad.mul_(scale)


def main():
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(70 + rank)
    stage = FirstStage() if rank == 0 else LastStage()
    optimizer = torch.optim.AdamW(stage.parameters(), lr=4e-3)
    for step in range(STEPS):
        optimizer.zero_grad()
        loss = afab_first(stage, step) if rank == 0 else afab_last(stage, step)
        clip_by_global_norm(list(stage.parameters()), 1.0)
        optimizer.step()
        if rank == 1 and step % 10 == 9:
            print(f"[rank {rank}] step {step + 1} loss {loss:.4f}", flush=True)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
