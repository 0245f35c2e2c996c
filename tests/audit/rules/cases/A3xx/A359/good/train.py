import torch
import torch.nn.functional as F
from torch_geometric.datasets import Reddit
from torch_geometric.loader import NeighborLoader
from tqdm import tqdm

from net import Net

data = Reddit("data")[0]
loader = NeighborLoader(data, num_neighbors=[10, 5], input_nodes=data.train_mask, batch_size=512, shuffle=True)
model = Net().cuda()
optimizer = torch.optim.Adam(model.parameters())
criterion = torch.nn.CrossEntropyLoss()

for epoch in range(10):
    for batch in loader:
        batch = batch.cuda()
        optimizer.zero_grad()
        n = batch.batch_size
        loss = F.cross_entropy(model(batch.x, batch.edge_index)[:n], batch.y[:n])
        loss.backward()
        optimizer.step()
