import torch
import torch.distributed as dist


class TensorParallelFeeder:
    """The first lane of a tensor parallel group reads; its peers get a copy."""

    def __init__(self, loader, layout, device, seq_len, batch_size):
        self.loader = loader
        self.layout = layout
        self.device = device
        self.shape = (batch_size, seq_len)

    def __len__(self):
        return len(self.loader)

    def __iter__(self):
        source = iter(self.loader) if self.layout.tp_rank == 0 else None
        for _ in range(len(self.loader)):
            if source is not None:
                ids = next(source).to(self.device)
            else:
                ids = torch.empty(self.shape, dtype=torch.long, device=self.device)
            dist.broadcast(ids, src=0, group=self.layout.tp_group)  # cause
            yield ids
