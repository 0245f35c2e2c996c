import torch
import torch.nn.functional as F
from torch_geometric.datasets import Reddit
from torch_geometric.loader import HGTLoader
from tqdm import tqdm

from net import Net

data = Reddit("data")[0]
loader = HGTLoader(data, [128] * 4, input_nodes=("paper", data["paper"].train_mask), batch_size=128)
model = Net().cuda()
optimizer = torch.optim.Adam(model.parameters())
criterion = torch.nn.CrossEntropyLoss()

for epoch in range(10):
    for batch in loader:
        batch = batch.cuda()
        optimizer.zero_grad()
        out = model(batch.x_dict, batch.edge_index_dict)
        loss = F.nll_loss(out.log_softmax(1), batch["paper"].y[:, 0])
        loss.backward()
        optimizer.step()
