import torch


def get_contrastive_denoising(targets, num_groups, noise):
    """Noised copies of the ground truth as extra queries; None where there is none."""
    boxes = [t for t in targets if len(t)]
    if not boxes:
        return None
    base = torch.cat(boxes).repeat(num_groups, 1)
    return base + torch.randn_like(base) * noise, base
