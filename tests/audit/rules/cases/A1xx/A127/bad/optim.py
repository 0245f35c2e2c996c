from torch.optim.lr_scheduler import ConstantLR, CosineAnnealingLR, LinearLR, SequentialLR


def build_scheduler(optimizer, cfg):
    if cfg.scheduler == "constant":
        main = ConstantLR(optimizer, factor=1.0, total_iters=0)
    elif cfg.scheduler == "cosine":
        return CosineAnnealingLR(optimizer, T_max=cfg.total_steps - cfg.warmup_steps, eta_min=0)
    else:
        main = LinearLR(optimizer, 1.0, 0.0, total_iters=cfg.total_steps - cfg.warmup_steps)
    if cfg.warmup_steps == 0:
        return main
    warmup = LinearLR(optimizer, start_factor=1.0 / cfg.warmup_steps, total_iters=cfg.warmup_steps)
    return SequentialLR(optimizer, [warmup, main], milestones=[cfg.warmup_steps])
