import torch
import torch.distributed as dist


def gather_all(values):
    out = [torch.empty_like(values) for _ in range(dist.get_world_size())]
    dist.all_gather(out, values)
    return torch.cat(out)


@torch.no_grad()
def evaluate(model, shards, load):
    model.eval()
    scores = []
    for shard in shards:  # cause
        score = torch.stack([model(x).mean() for x in load(shard)]).mean()
        scores.append(gather_all(score.reshape(1)))
    model.train()
    return torch.cat(scores).mean().item()
