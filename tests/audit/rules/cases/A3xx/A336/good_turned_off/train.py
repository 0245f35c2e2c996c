import torch
import torch.nn.functional as F


def findings_loss(logits, target, weight):
    with torch.autocast("cuda", enabled=False):
        return F.binary_cross_entropy(torch.sigmoid(logits.float()), target, weight=weight)


def evaluate(model, loader, weight):
    with torch.no_grad():
        return sum(findings_loss(model(image), target, weight) for image, target in loader)


def train(model, loader, optimizer, weight, amp):
    scaler = torch.amp.GradScaler("cuda", enabled=amp)
    for image, target in loader:
        optimizer.zero_grad()
        with torch.autocast("cuda", torch.float16, enabled=amp):
            loss = findings_loss(model(image), target, weight)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
