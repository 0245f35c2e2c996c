import torch
import torch.distributed as dist


class Evaluator:
    def compute(self, prediction, target):
        return {"energy": (prediction - target).abs()}

    def update(self, prediction, target, metrics):
        for key, value in self.compute(prediction, target).items():
            entry = metrics.setdefault(key, {"total": 0.0, "count": 0})
            entry["total"] += value.sum().item()
            entry["count"] += value.numel()
        return metrics


def reduce_metrics(metrics, device):
    reduced = {}
    for key, entry in metrics.items():
        pair = torch.tensor([entry["total"], entry["count"]], device=device)
        dist.all_reduce(pair)
        total, count = pair.tolist()
        reduced[key] = {"total": total, "count": count}
    return reduced


def summed(tensor):
    if dist.is_initialized():
        dist.all_reduce(tensor, op=dist.ReduceOp.SUM)
    return tensor
