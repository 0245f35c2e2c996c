import torch
import torch.nn.functional as F
from torch_geometric.datasets import Reddit
from torch_geometric.loader import DataLoader
from tqdm import tqdm

from net import Net

data = Reddit("data")[0]
loader = DataLoader(data, batch_size=32)
model = Net().cuda()
optimizer = torch.optim.Adam(model.parameters())
criterion = torch.nn.CrossEntropyLoss()

for epoch in range(10):
    for batch in loader:
        batch = batch.cuda()
        optimizer.zero_grad()
        loss = F.cross_entropy(model(batch.x, batch.edge_index, batch.batch), batch.y)
        loss.backward()
        optimizer.step()
