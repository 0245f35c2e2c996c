from torch.distributed.fsdp import FullyShardedDataParallel as FSDP


def prepare(model, optimizer):
    model = FSDP(model)
    optimizer.param_groups[0]["params"] = list(model.parameters())
    return model, optimizer
