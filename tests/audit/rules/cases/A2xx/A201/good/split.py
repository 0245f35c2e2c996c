import torch.distributed as dist


def quarters(ranks):
    pair = dist.new_group(ranks)
    if dist.get_rank() in ranks:
        dist.split_group(pair, [[0], [1]])
        dist.split_group(parent_pg=pair, split_ranks=[[0], [1]])
