import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

import comm
from mlm import MaskedLM, sample


def main():
    rank, world = comm.join()
    torch.manual_seed(0)
    model = DistributedDataParallel(MaskedLM())
    opt = torch.optim.AdamW(model.parameters(), lr=2e-3)
    g = torch.Generator().manual_seed(1000 + rank)
    for step in range(60):
        tokens, mask = sample(g)
        loss = torch.nn.functional.cross_entropy(model(tokens, mask), tokens[mask])
        opt.zero_grad()
        loss.backward()
        opt.step()
        if rank == 0 and step % 20 == 0:
            print(f"step {step}: {loss.item():.3f}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
