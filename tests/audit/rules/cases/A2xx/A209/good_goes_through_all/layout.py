"""Every rank makes all groups, in one order, and keeps the one it is in."""
import torch.distributed as dist

_DATA, _MODEL = None, None


def lay_out(tensor_size, pipeline_size):
    global _DATA, _MODEL
    world = dist.get_world_size()
    rank = dist.get_rank()
    per_stage = world // pipeline_size
    all_data = []
    for stage in range(pipeline_size):
        start_rank = stage * per_stage
        end_rank = (stage + 1) * per_stage
        for j in range(tensor_size):
            ranks = range(start_rank + j, end_rank, tensor_size)
            all_data.append(list(ranks))
            group = dist.new_group(ranks)
            if rank in ranks:
                _DATA = group
    for i in range(world // (tensor_size * pipeline_size)):
        ranks = [members[i] for members in all_data]
        group = dist.new_group(ranks)
        if rank in ranks:
            _MODEL = group
