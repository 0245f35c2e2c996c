import torch.distributed as dist

from engine.dist_utils import reduce_dict


def train_one_epoch(model, criterion, loader, optimizer, epoch, print_freq=8):
    model.train()
    for i, (samples, targets) in enumerate(loader):
        outputs = model(samples, targets=targets)
        loss_dict = criterion(outputs, targets)
        loss = sum(loss_dict.values())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        loss_dict_reduced = reduce_dict({k: v.detach() for k, v in loss_dict.items()})
        if i % print_freq == 0 and dist.get_rank() == 0:
            shown = "  ".join(f"{k}: {v.item():.4f}" for k, v in loss_dict_reduced.items())
            print(f"Epoch: [{epoch}] [{i}/{len(loader)}] {shown}", flush=True)
