import torch.distributed as dist


def shared(group, leader, make):
    box = [None]
    if dist.get_rank(group) == leader:
        box[0] = make()
    dist.broadcast_object_list(box, src=leader, group=group)
    return box[0]


def tensor_of(group, leader, tensor):
    mine = group.rank()
    if mine != leader:
        tensor.zero_()
    dist.broadcast(tensor, leader, group)
    return tensor
