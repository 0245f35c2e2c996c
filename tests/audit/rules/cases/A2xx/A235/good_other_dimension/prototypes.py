import torch
import torch.distributed as dist


@torch.no_grad()
def assign(scores, epsilon=0.05, rounds=3):
    """The samples are divided over the ranks (dimension 1), the prototypes are not."""
    q = torch.exp(scores / epsilon)
    whole = torch.sum(q)
    dist.all_reduce(whole)
    q /= whole
    for _ in range(rounds):
        rows = torch.sum(q, dim=1, keepdim=True)
        dist.all_reduce(rows)
        q /= rows
        q /= torch.sum(q, dim=0, keepdim=True)
    return q


def balance(gates, scores, weight):
    """The usage of the experts is over all ranks' tokens, each token's own softmax is over all experts."""
    used = gates.mean(0)
    dist.all_reduce(used, op=dist.ReduceOp.AVG)
    return used.pow(2).sum() + weight * torch.logsumexp(scores, -1).mean()


def centred(teacher, student, momentum, centre):
    """A centre of all ranks' samples beside the spread of the rank's own ones."""
    sums = teacher.sum(0)
    dist.all_reduce(sums)
    centre = centre * momentum + sums / (len(teacher) * dist.get_world_size()) * (1 - momentum)
    return centre / teacher.std(0)
