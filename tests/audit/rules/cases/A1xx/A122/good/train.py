from torch.utils.data import DataLoader


def counts(data, args, total):
    loader = DataLoader(data, batch_size=args.batch_size, shuffle=True)
    steps = len(loader) * args.epochs
    accumulated = len(loader) // args.accumulation
    batches = len(loader.dataset) / args.batch_size
    samples = len(data) // args.batch_size
    mean = total / (len(loader) * args.batch_size)
    per_rank = DataLoader(data, batch_size=args.batch_size // 4)
    return steps, accumulated, batches, samples, mean, len(per_rank) / args.batch_size
