import torch.distributed as dist


def within(group, leader, make):
    box = [None]
    if dist.get_rank(group) == leader:
        box[0] = make()
    dist.broadcast_object_list(box, group=group, group_src=leader)
    return box[0]


def of_world(group, leader, make):
    box = [None]
    if dist.get_rank() == leader:
        box[0] = make()
    dist.broadcast_object_list(box, src=leader, group=group)
    return box[0]


def turned(group, leader, make):
    box = [make()] if group.rank() == leader else [None]
    dist.broadcast_object_list(box, src=dist.get_global_rank(group, leader), group=group)
    root = dist.get_global_rank(group, leader)
    dist.broadcast_object_list(box, src=root, group=group)
    return box[0]
