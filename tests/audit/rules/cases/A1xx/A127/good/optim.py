from torch.optim.lr_scheduler import ChainedScheduler, CosineAnnealingLR, LinearLR, SequentialLR, StepLR


def joined(optimizer, cfg):
    if cfg.scheduler == "cosine":
        main = CosineAnnealingLR(optimizer, T_max=cfg.total_steps - cfg.warmup_steps)
    else:
        main = LinearLR(optimizer, 1.0, 0.0, total_iters=cfg.total_steps - cfg.warmup_steps)
    if cfg.warmup_steps == 0:
        return main
    warmup = LinearLR(optimizer, 0.1, total_iters=cfg.warmup_steps)
    return SequentialLR(optimizer, [warmup, main], milestones=[cfg.warmup_steps])


def whole_length(optimizer, cfg):
    if cfg.scheduler == "plain":
        return CosineAnnealingLR(optimizer, T_max=cfg.total_steps)
    if cfg.scheduler == "steps":
        return StepLR(optimizer, cfg.every)
    warmup = LinearLR(optimizer, 0.1, total_iters=cfg.warmup_steps)
    main = CosineAnnealingLR(optimizer, T_max=cfg.total_steps - cfg.warmup_steps)
    return SequentialLR(optimizer, [warmup, main], [cfg.warmup_steps])


def both(optimizer, total, first):
    rising = LinearLR(optimizer, 0.1, total_iters=first)
    falling = CosineAnnealingLR(optimizer, total - first)
    if first > 100:
        return falling, rising
    return SequentialLR(optimizer, [rising, falling], [first])


def two_phases(optimizer, total, hold):
    main = StepLR(optimizer, total - hold)
    rest = LinearLR(optimizer, 1.0, 0.0, total_iters=hold)
    return ChainedScheduler([main, rest])
