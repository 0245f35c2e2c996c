import torch
import torch.distributed as dist


def gather_rows(local):
    count = torch.tensor(len(local), device=local.device)
    counts = [torch.empty_like(count) for _ in range(dist.get_world_size())]
    dist.all_gather(counts, count)
    counts = [int(c) for c in counts]
    padded = local.new_zeros((max(counts), *local.shape[1:]))
    padded[:len(local)] = local
    parts = [torch.empty_like(padded) for _ in counts]
    dist.all_gather(parts, padded)
    return torch.cat([p[:n] for p, n in zip(parts, counts)])


class Recall:
    def __init__(self, ks=(1, 5, 10)):
        self.ks = ks

    def __call__(self, queries, docs, ids, chunk=1024):
        best = []
        for part in queries.split(chunk):
            best.append((part @ docs.t()).topk(max(self.ks), dim=-1).indices)
        ranked = ids[torch.cat(best)]
        hit = ranked == ids[:, None]
        return {k: hit[:, :k].any(-1).float().mean().item() for k in self.ks}
