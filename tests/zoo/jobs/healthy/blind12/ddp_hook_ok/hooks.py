import torch
import torch.distributed as dist


class NormTracker:
    def __init__(self):
        self.history = []
        self.pending = 0.0

    def flush(self):
        self.history.append(self.pending ** 0.5)
        self.pending = 0.0


def scaled_norm_hook(state, bucket):
    """Clips exploding buckets before they are exchanged and keeps their norms."""
    buf = bucket.buffer()
    norm = buf.norm()
    state.pending += float(norm) ** 2
    if norm > 5.0:
        buf.mul_(5.0 / norm)
    if bucket.is_last():
        state.flush()
    buf.div_(dist.get_world_size())
    return dist.all_reduce(buf, async_op=True).get_future().then(lambda f: f.value()[0])
