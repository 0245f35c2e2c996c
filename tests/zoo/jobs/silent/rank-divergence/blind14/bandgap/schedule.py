from torch.optim.lr_scheduler import ReduceLROnPlateau


def on_plateau(optimizer, factor=0.5, patience=1, threshold=5e-3, floor=1e-5):
    return ReduceLROnPlateau(optimizer, factor=factor, patience=patience, threshold=threshold, min_lr=floor)
