import torch
from torch.utils.data import DataLoader, TensorDataset

from config import Config
from engine import small_resnet, train_one_epoch, validate
from leaves import leaves


def main(cfg):
    torch.manual_seed(cfg.seed)
    x, _, labels = leaves(cfg.train, 0)
    test_x, test_y, _ = leaves(cfg.test, 1)
    loader = DataLoader(TensorDataset(x, labels), cfg.batch_size, shuffle=True, drop_last=True)
    model = small_resnet()
    criterion = torch.nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), cfg.lr, momentum=cfg.momentum, weight_decay=1e-4, nesterov=True)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=cfg.epochs, eta_min=cfg.min_lr)
    for epoch in range(cfg.epochs):
        loss = train_one_epoch(model, loader, criterion, optimizer, scheduler)
        print(f"[{epoch + 1}/{cfg.epochs}] loss {loss:.4f} acc {validate(model, test_x, test_y):.4f}", flush=True)


if __name__ == "__main__":
    main(Config())
