import torch

from store import save_state_of, resume


def main(model, optimizer, loader, evaluate, args):
    best_dice = 0.0
    resume("last.pth", model, optimizer, args)
    for epoch in range(args.start_epoch, args.epochs):
        for batch in loader:
            model(batch).backward()
            optimizer.step()
        dice = evaluate(model)
        save_state_of("last.pth", model, optimizer, epoch)
        if dice > best_dice:
            best_dice = dice
            torch.save(model.state_dict(), "best.pth")
