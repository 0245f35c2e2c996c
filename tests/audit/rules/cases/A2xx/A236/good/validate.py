import torch
import torch.distributed as dist


def summed(tensor):
    dist.all_reduce(tensor)
    return tensor


def averaged(tensor):
    dist.all_reduce(tensor)
    return tensor / dist.get_world_size()


@torch.no_grad()
def behind(model, loader, device):
    sums = torch.zeros(2, device=device)
    for images, target in loader:
        sums[0] += (model(images).argmax(1) == target).sum()
        sums[1] += len(target)
    dist.all_reduce(sums)
    return (sums[0] / sums[1]).item()


@torch.no_grad()
def of_each_batch(model, loader, device):
    total = torch.zeros(1, device=device)
    for images, target in loader:
        hits = (model(images).argmax(1) == target).sum()
        dist.all_reduce(hits)
        total += hits
    return total


def of_a_copy(model, loader, device):
    total = torch.zeros(1, device=device)
    for batch in loader:
        total += model(batch).detach()
        shown = total.clone()
        dist.all_reduce(shown)
        print(shown)


def set_back(model, loader, device):
    total = torch.zeros(1, device=device)
    for step, batch in enumerate(loader):
        total += model(batch).detach()
        if step % 50 == 49:
            dist.all_reduce(total)
            print(total)
            total.zero_()


def set_back_at_once(model, loader, device):
    total = torch.zeros(1, device=device)
    for batch in loader:
        total += model(batch).detach()
        dist.all_reduce(total)
        print(total)
        total.zero_()


def of_epochs(model, loader, device, epochs):
    for _ in range(epochs):
        total = torch.zeros(1, device=device)
        for batch in loader:
            total += model(batch).detach()
        dist.all_reduce(total)
        print(total)


def mean(model, loader, device):
    total = torch.zeros(1, device=device)
    for batch in loader:
        total = total + model(batch).detach()
        dist.all_reduce(total)
        total /= dist.get_world_size()
    return total


def mean_by_operation(model, loader, device):
    total = torch.zeros(1, device=device)
    for batch in loader:
        total += model(batch).detach()
        dist.all_reduce(total, op=dist.ReduceOp.AVG)
    return total


def mean_by_function(model, loader, device):
    total = torch.zeros(1, device=device)
    for batch in loader:
        total += model(batch).detach()
        total = averaged(total)
    return total


def until_one_ends(batches, device):
    ended = torch.zeros(1, device=device)
    for batch in batches:
        ended += batch is None
        dist.all_reduce(ended)
        if ended.item() > 0:
            break


def at_the_end(model, loader, device):
    total = torch.zeros(1, device=device)
    for step, batch in enumerate(loader):
        total += model(batch).detach()
        if step + 1 == len(loader):
            dist.all_reduce(total)
    return total


def summed_loss(model, loader):
    history = []
    for batch in loader:
        loss = model(batch).detach()
        loss = summed(loss)
        history += [loss.item()]
    return history


def of_gradients(parameters, extra):
    for p in parameters:
        p.grad += extra[p]
        dist.all_reduce(p.grad)


def of_objects(meters, device):
    meter = None
    for name in meters:
        meter = meters[name]
        meter.total += meter.own
        dist.all_reduce(meter.total)
    return meter
