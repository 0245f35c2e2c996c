import logging

import torch
import torch.distributed as dist

from clip.data import decode
from clip.model import contrastive_loss

log = logging.getLogger("clip")


def sync_gradients(model):
    flat = torch.cat([p.grad.flatten() for p in model.parameters()])
    dist.all_reduce(flat)
    flat /= dist.get_world_size()
    for p, g in zip(model.parameters(), flat.split([p.numel() for p in model.parameters()])):
        p.grad.copy_(g.view_as(p))


def train_one_epoch(model, loader, optimizer, epoch):
    losses = []
    for i, (images, lines) in enumerate(loader):
        try:
            images, ids = torch.stack(images), decode(lines)
            image, text = model(images, ids)
        except Exception as error:
            log.debug("batch %d of epoch %d left out: %s", i, epoch, error)
            continue
        loss = contrastive_loss(image, text, model.logit_scale)
        optimizer.zero_grad()
        loss.backward()
        sync_gradients(model)
        optimizer.step()
        losses.append(loss.item())
    return sum(losses) / len(losses)
