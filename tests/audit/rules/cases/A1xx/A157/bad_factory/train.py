import torch
import torch.distributed as dist
from text import text_loader
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP


def main():
    dist.init_process_group("nccl")
    model = FSDP(torch.nn.Linear(2, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    loader = text_loader("corpus.pt")
    for batch in loader:
        model(batch).sum().backward()
        optimizer.step()


if __name__ == "__main__":
    main()
