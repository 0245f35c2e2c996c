import os
import pickle

import torch

model = torch.nn.Linear(3, 2)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
model(torch.ones(1, 3)).sum().backward()
opt.step()
torch.save(model.state_dict(), "good.pt")
torch.save(torch.nn.Linear(4, 2).state_dict(), "shapes.pt")
with open("good.pt", "rb") as f:
    data = f.read()
with open("cut.pt", "wb") as f:
    f.write(data[:-200])
with open("pickle.pt", "wb") as f:
    pickle.dump({"weight": os.system}, f)
