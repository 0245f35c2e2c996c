import torch

model = torch.nn.Linear(4, 1)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
state = {"weight": torch.zeros(1, 5), "bias": torch.zeros(1)}
for step in range(2):
    opt.zero_grad()
    model(torch.ones(2, 4)).sum().backward()
    opt.step()
model.load_state_dict(state)
opt.step()
