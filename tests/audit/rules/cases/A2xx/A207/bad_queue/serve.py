import queue

import torch.distributed as dist


def serve(requests, batch):
    while True:
        try:
            batch.append(requests.get(timeout=1))
        except queue.Empty:
            dist.broadcast_object_list(batch, 0)
