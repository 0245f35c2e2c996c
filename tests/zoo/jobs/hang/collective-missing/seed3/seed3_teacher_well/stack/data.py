import torch

POINTS = 48


def latent_pairs(cfg, stage, epoch, rank):
    """Yields (state, target, dt); the Darcy meshes of the mixture are much finer than the others."""
    fine = cfg["data"]["fine_meshes"].get(stage, {})
    for i in range(cfg["data"]["batches"]):
        generator = torch.Generator().manual_seed(10_000 * rank + 100 * epoch + i)
        points = POINTS
        if (fine.get("rank"), fine.get("epoch"), fine.get("batch")) == (rank, epoch, i):
            points = fine["points"]
        state = torch.randn(points, generator=generator)
        yield state, 0.9 * state, torch.tensor(0.1)
