from torch.utils.data import DataLoader


def announce(epoch, *loaders: DataLoader):
    for loader in loaders:
        for owner in (loader.sampler, getattr(loader.batch_sampler, "sampler", None), loader.dataset):
            for name in ("set_epoch", "tick"):
                fn = getattr(owner, name, None)
                if fn is not None:
                    fn(epoch)
