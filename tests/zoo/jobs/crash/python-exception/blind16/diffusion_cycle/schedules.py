from torch.optim import lr_scheduler


def build_schedule(opt, kind, epochs, updates_per_epoch, peak):
    if kind == "onecycle":
        return lr_scheduler.OneCycleLR(opt, peak, total_steps=epochs * updates_per_epoch)
    if kind == "cosine":
        return lr_scheduler.CosineAnnealingLR(opt, epochs * updates_per_epoch)
    raise KeyError(kind)
