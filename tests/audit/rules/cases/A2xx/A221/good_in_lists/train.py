import torch
import torch.distributed as dist
import torch.nn.functional as F


def of_all_ranks(tensors):
    found = []
    for one in tensors:
        rows = [torch.empty_like(one) for _ in range(dist.get_world_size())]
        dist.all_gather(rows, one.contiguous())
        found.append(torch.cat(rows))
    return found


def with_own_rows(tensors):
    found = []
    for one in tensors:
        rows = [torch.empty_like(one) for _ in range(dist.get_world_size())]
        dist.all_gather(rows, one)
        rows[dist.get_rank()] = one
        found.append(torch.cat(rows))
    return found


def loss_of(left, right, labels):
    every_left, every_right = with_own_rows([left, right])
    (every_labels,) = of_all_ranks([labels])
    return F.cross_entropy(every_left @ every_right.t(), every_labels)


def put_back_by_the_caller(left, right, wanted):
    every_left, every_right = of_all_ranks([left, right])
    first = dist.get_rank() * len(left)
    every_left[first : first + len(left)] = left
    every_right[first : first + len(right)] = right
    return F.cross_entropy(every_left @ every_right.t(), wanted)


def joined_by_the_caller(left, right, wanted):
    (others,) = of_all_ranks([right])
    first = dist.get_rank() * len(right)
    keys = torch.cat([others[:first], right, others[first + len(right) :]])
    return F.cross_entropy(left @ keys.t(), wanted)


def against_a_teacher(left, teacher, wanted):
    (keys,) = of_all_ranks([teacher.detach()])
    return F.cross_entropy(left @ keys.t(), wanted)


def supervised(features, labels):
    every_labels, weights = of_all_ranks([labels, labels.bincount().float()])
    loss = F.cross_entropy(features, labels, weight=weights)
    return loss, every_labels


def step(model, batch, optimizer):
    left, right = model(batch)
    loss = loss_of(left, right, batch["labels"]) + put_back_by_the_caller(left, right, batch["labels"])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    with torch.no_grad():
        (norms,) = of_all_ranks([left.norm(dim=1)])
    print("loss", loss.item(), "norms", norms.mean())


dist.init_process_group("gloo")
