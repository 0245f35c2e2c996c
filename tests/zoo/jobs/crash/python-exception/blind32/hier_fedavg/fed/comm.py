import torch
import torch.distributed as dist


def weighted_mean(model, weight, group):
    """Averages parameters over the group's members by their numbers of samples."""
    total = torch.tensor([float(weight)])
    dist.all_reduce(total, group=group)
    with torch.no_grad():
        for p in model.parameters():
            p.mul_(weight / total.item())
            dist.all_reduce(p.data, group=group)
    return total.item()


def invoke_on_leader(fn, group, leader=0):
    """Runs fn on the group's leader only and gives its result to all members."""
    box = [None]
    if dist.get_rank(group) == leader:
        box[0] = fn()
    dist.broadcast_object_list(box, src=leader, group=group)
    return box[0]
