import torch
from torch.nn.parallel import DistributedDataParallel

from .trainer import SimpleTrainer


def run_stage(detector, loader, lr, iterations, start=0):
    """One stage of the recipe: the wrapper and the optimizer are built for what is trainable now."""
    model = DistributedDataParallel(detector)
    optimizer = torch.optim.AdamW([p for p in detector.parameters() if p.requires_grad], lr=lr)
    trainer = SimpleTrainer(model, loader, optimizer, [])
    trainer.iter = start
    trainer.train(start + iterations)
    return trainer
