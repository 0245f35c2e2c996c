import torch
from sklearn.model_selection import StratifiedKFold
from torch import nn
from torch.utils.data import DataLoader, Subset
from torchvision.models import resnet18

from data import scans

dataset = scans()
model = resnet18(num_classes=2).cuda()
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
for number, (train, held_out) in enumerate(StratifiedKFold(5, shuffle=True).split(dataset.paths, dataset.labels)):
    for epoch in range(20):
        model.train()
        for x, y in DataLoader(Subset(dataset, train), 32, shuffle=True):
            optimizer.zero_grad()
            criterion(model(x.cuda()), y.cuda()).backward()
            optimizer.step()
    model.eval()
    hits = 0
    with torch.no_grad():
        for x, y in DataLoader(Subset(dataset, held_out), 64):
            hits += (model(x.cuda()).argmax(1).cpu() == y).sum().item()
    print(number, hits / len(held_out))
