import torch
import torch.distributed as dist



def shift(block):
    rank, world = dist.get_rank(), dist.get_world_size()
    received = torch.empty_like(block)
    sent = dist.isend(block, dst=(rank + 1) % world)
    dist.recv(received, src=(rank - 1) % world)
    sent.wait()
    return received


def batched(block, received, rank, world):
    ops = [dist.P2POp(dist.isend, block, (rank + 1) % world), dist.P2POp(dist.irecv, received, (rank - 1) % world)]
    for work in dist.batch_isend_irecv(ops):
        work.wait()


def several(blocks, peer):
    works = [dist.isend(block, dst=peer) for block in blocks]
    for work in works:
        work.wait()
