import torch
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP


def make_optimizer(config, module, stage):
    return torch.optim.AdamW(module.parameters(), lr=config[stage])


def shard(module, device):
    return FSDP(module, device_id=device)


def main(config):
    operator = torch.nn.Linear(8, 8)
    optimizer = make_optimizer(config, operator, "first")
    teacher = torch.nn.Linear(8, 8)
    teacher = shard(teacher, 0)
    operator(torch.ones(1, 8)).mul(teacher(torch.ones(1, 8))).sum().backward()
    optimizer.step()


if __name__ == "__main__":
    main({"first": 0.1})
