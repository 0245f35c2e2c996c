CONFIG = {
    "model": {"inputs": 8, "hidden": 20, "classes": 3},
    "optim": {"lr": 0.05, "momentum": 0.9},
    "loop": {"epochs": 8, "batches": 6, "batch_size": 12, "seed": 41},
    "augment": {"noise": 0.05, "mixup_from_epoch": 3},
}


def section(name):
    return dict(CONFIG[name])
