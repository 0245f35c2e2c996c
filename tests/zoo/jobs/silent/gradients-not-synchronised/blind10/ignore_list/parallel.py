from torch.nn.parallel import DistributedDataParallel as DDP


def wrap(model, skip=()):
    """The pretrained table is large and frozen: do not send it around."""
    names = [n for n, _ in model.named_parameters() if any(n.startswith(s) for s in skip)]
    DDP._set_params_and_buffers_to_ignore_for_model(model, names)
    return DDP(model)
