import torch.distributed as dist


def trainable(model):
    return {name for name, p in model.named_parameters() if p.requires_grad}


def non_trainable_state(model):
    """Names of everything that DDP is told to leave alone."""
    return set(model.state_dict()) - trainable(model)


def share_from_main(model, src=0):
    state = model.state_dict()
    for name in non_trainable_state(model):
        dist.broadcast(state[name], src=src)


def average(value, world):
    dist.all_reduce(value)
    return value / world
