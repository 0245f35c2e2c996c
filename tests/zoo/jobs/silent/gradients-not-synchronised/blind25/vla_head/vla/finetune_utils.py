import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def wrap_ddp(module, find_unused=False):
    return DDP(module, find_unused_parameters=find_unused, gradient_as_bucket_view=True)


def run_forward_pass(vla, action_head, batch):
    obs, actions = batch
    hidden = vla(obs)
    predicted = action_head.module.predict_action(hidden)
    loss = (predicted - actions).abs().mean()
    return loss, {"loss": loss.item()}


def mean_metric(value):
    box = [None] * dist.get_world_size()
    dist.all_gather_object(box, value)
    return sum(box) / len(box)
