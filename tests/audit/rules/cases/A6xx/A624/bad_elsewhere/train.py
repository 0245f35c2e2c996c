import torch
from stopping import Stopper

stopper = Stopper()
model = torch.nn.Linear(8, 8)
while not stopper.asked:
    model(torch.zeros(4, 8)).mean().backward()
torch.save(model.state_dict(), "last.pt")
