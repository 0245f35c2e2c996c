import torch
import torch.distributed as dist
from groups import sum_over_parts


class Parts:
    @staticmethod
    def largest(logits):
        logits = logits.float()
        return logits, torch.max(logits, dim=-1)[0]

    @staticmethod
    def exponentials(logits, largest):
        logits.sub_(largest.unsqueeze(dim=-1))
        exp_logits = logits.clone()
        torch.exp(logits, out=exp_logits)
        return exp_logits, exp_logits.sum(dim=-1)


def smoothed(part_of_logits, picked, group, smoothing=0.1):
    part_of_logits, largest = Parts.largest(part_of_logits)
    dist.all_reduce(largest, op=dist.ReduceOp.MAX, group=group)
    exp_logits, total = Parts.exponentials(part_of_logits, largest)
    sum_over_parts(total, group)
    loss = torch.log(total) - picked
    exp_logits.div_(total.unsqueeze(dim=-1))
    uniform = torch.log(exp_logits).mean(dim=-1)
    return (1 - smoothing) * loss - smoothing * uniform
