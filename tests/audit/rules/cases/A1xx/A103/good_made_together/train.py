"""Who wraps is given the optimizer, which was made with the model by one function, and gives back another."""
import torch
from torch.distributed.fsdp import FullyShardedDataParallel


def create_components():
    model = torch.nn.Linear(2, 4)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1.0)
    return model, optimizer


def prepare(model, optimizer):
    sharded = FullyShardedDataParallel(model)
    for group in optimizer.param_groups:
        group["params"] = list(sharded.parameters())
    return sharded, optimizer


def main():
    torch.distributed.init_process_group("nccl")
    model, optimizer = create_components()
    model, optimizer = prepare(model, optimizer)
    model(torch.randn(2, 2)).sum().backward()
    optimizer.step()


if __name__ == "__main__":
    main()
