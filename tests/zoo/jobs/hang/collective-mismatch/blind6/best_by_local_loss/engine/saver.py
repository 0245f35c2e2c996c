import io

import torch
import torch.distributed as dist


class ShardedSaver:
    """Every rank owns a slice of the optimizer's moments; rank 0 puts them together and keeps the file."""

    def __init__(self):
        self.rank, self.world = dist.get_rank(), dist.get_world_size()
        self.kept = None

    def save(self, model, moments, epoch):
        parts = [torch.empty_like(moments) for _ in range(self.world)]
        dist.all_gather(parts, moments)
        if self.rank == 0:
            buffer = io.BytesIO()
            torch.save({"model": model.state_dict(), "moments": torch.cat(parts), "epoch": epoch}, buffer)
            self.kept = buffer.getvalue()
            print(f"epoch {epoch}: kept {len(self.kept)} bytes", flush=True)
