def denoise(model, x):
    noisy = x + 0.3 * x.roll(1, 0)
    return (model(noisy) - x).square().mean()


def regress(model, x):
    return (model(x)[:, 0] - x.sin().sum(1)).square().mean()


TASKS = {"pretrain": denoise, "finetune": regress}
