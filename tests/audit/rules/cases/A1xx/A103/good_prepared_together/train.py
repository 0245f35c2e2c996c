"""Who wraps is given the optimizer with the model; with DeepSpeed nothing is sharded by FSDP."""
import torch
from torch.distributed.fsdp import FullyShardedDataParallel


class Accelerator:
    def __init__(self, deepspeed_plugin=None, kind="FSDP"):
        self.kind = kind if deepspeed_plugin is None else "DEEPSPEED"

    def prepare(self, *args):
        if self.kind == "DEEPSPEED":
            return args
        return tuple(self.prepare_model(one) if isinstance(one, torch.nn.Module) else one for one in args)

    def prepare_model(self, model):
        if self.kind == "FSDP":
            model = FullyShardedDataParallel(model)
        return model


def create_components():
    model = torch.nn.Linear(2, 4)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1.0)
    return model, optimizer


def together():
    torch.distributed.init_process_group("nccl")
    accelerator = Accelerator()
    model, optimizer = create_components()
    model, optimizer = accelerator.prepare(model, optimizer)
    optimizer.step()


def by_deepspeed(plugin, dummy):
    torch.distributed.init_process_group("nccl")
    accelerator = Accelerator(deepspeed_plugin=plugin)
    model = torch.nn.Linear(2, 4)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1.0)
    model, optimizer = accelerator.prepare(model, dummy)
    optimizer.step()


if __name__ == "__main__":
    together()
    by_deepspeed(None, None)
