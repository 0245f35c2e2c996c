import torch

from util.misc import MetricLogger


def box_l1(pred, target):
    return (pred - target).abs().sum(-1).mean()


def giou(a, b):
    lt, rb = torch.max(a[:, :2], b[:, :2]), torch.min(a[:, 2:], b[:, 2:])
    inter = (rb - lt).clamp(min=0).prod(-1)
    area = lambda x: (x[:, 2:] - x[:, :2]).clamp(min=0).prod(-1)
    union = area(a) + area(b) - inter
    hull = (torch.max(a[:, 2:], b[:, 2:]) - torch.min(a[:, :2], b[:, :2])).prod(-1)
    return inter / (union + 1e-6) - (hull - union) / (hull + 1e-6)


def train_one_epoch(model, loader, optimizer, epoch, max_norm=0.1):
    model.train()
    logger = MetricLogger()
    for images, boxes in logger.log_every(loader, 4, f"Epoch: [{epoch}]"):
        pred = model(images)
        loss = 5 * box_l1(pred, boxes) + 2 * (1 - giou(pred, boxes)).mean()
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)
        optimizer.step()
        logger.update(loss=loss)
    logger.synchronize_between_processes()
    return {k: m.global_avg for k, m in logger.meters.items()}


@torch.no_grad()
def evaluate(model, loader):
    model.eval()
    logger = MetricLogger()
    for images, boxes in logger.log_every(loader, 8, "Test:"):
        pred = model(images)
        logger.update(l1=box_l1(pred, boxes), giou=giou(pred, boxes).mean())
    logger.synchronize_between_processes()
    return {k: m.global_avg for k, m in logger.meters.items()}
