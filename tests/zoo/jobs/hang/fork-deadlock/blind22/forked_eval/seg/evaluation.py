"""Evaluation in a process of its own, so that its memory goes back to the system."""
import multiprocessing as mp

import torch


def mean_iou(model, images, masks, classes=3):
    model.eval()
    with torch.inference_mode():
        pred = model(images).argmax(1)
    hit = torch.stack([((pred == c) & (masks == c)).sum() for c in range(classes)]).float()
    union = torch.stack([((pred == c) | (masks == c)).sum() for c in range(classes)]).float()
    return (hit / union.clamp(min=1)).mean().item()


def _job(end, model, images, masks):
    end.send(mean_iou(model, images, masks))
    end.close()


def evaluate(model, images, masks):
    ctx = mp.get_context("fork")
    here, there = ctx.Pipe(duplex=False)
    child = ctx.Process(target=_job, args=(there, model, images, masks), name="evaluation")
    child.start()
    score = here.recv()
    child.join()
    return score
