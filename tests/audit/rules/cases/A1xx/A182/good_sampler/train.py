from torch.utils.data import DataLoader, RandomSampler


def main(model, optimizer, train_set, val_set, evaluate, args):
    best = 0.0
    loader = DataLoader(train_set, 64, shuffle=True, drop_last=True)
    val_loader = DataLoader(val_set, 64, sampler=RandomSampler(val_set), drop_last=args.cut)
    eval_loader = DataLoader(val_set, 64, shuffle=args.shuffle, drop_last=True)
    for batch in loader:
        model(batch).backward()
        optimizer.step()
        best = max(best, evaluate(model, val_loader), evaluate(model, eval_loader))
