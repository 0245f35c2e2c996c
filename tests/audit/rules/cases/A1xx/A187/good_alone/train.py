"""One process, which no other one shares the shards with."""

import torch
import webdataset as wds
from torch import nn

if __name__ == "__main__":
    data = wds.DataPipeline(wds.SimpleShardList("train.tar"), wds.split_by_worker, wds.tarfile_to_samples(), wds.decode())
    model = nn.Linear(512, 10).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x, y in wds.WebLoader(data, batch_size=64, num_workers=4):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x.cuda()), y.cuda()).backward()
        optimizer.step()
