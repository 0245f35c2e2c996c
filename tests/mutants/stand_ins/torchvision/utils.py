"""Pictures to files."""

import torch


def save_image(tensor, path, **options):
    """Writes the tensor itself."""
    torch.save(tensor, path)
