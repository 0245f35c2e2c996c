import torch


def save_all(path, epoch, **parts):
    torch.save({"epoch": epoch, **{name: part.state_dict() for name, part in parts.items()}}, path)
