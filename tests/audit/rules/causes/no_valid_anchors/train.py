"""A micro-batch without long samples is skipped on the rank that has it."""
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

from model import Drafter, NoValidAnchorsError


def batches(seed):
    generator = torch.Generator().manual_seed(seed)
    while True:
        yield torch.randn(4, 64, generator=generator), torch.randint(1, 64, (4,), generator=generator)


def main():
    dist.init_process_group("gloo")
    model = DDP(Drafter())
    optimizer = torch.optim.AdamW(model.parameters())
    done = 0
    for hidden, lengths in batches(dist.get_rank()):
        try:
            loss = model(hidden, lengths)
            loss.backward()
        except NoValidAnchorsError:  # cause
            continue
        optimizer.step()
        optimizer.zero_grad()
        done += 1
        if done == 1000:  # cause
            break
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
