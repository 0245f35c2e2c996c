import torch

from pde import Field, collocation, loss_of


def adam_phase(field, points, steps):
    optimizer = torch.optim.Adam(field.parameters(), lr=5e-3)
    for step in range(steps):
        loss = loss_of(field, points)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 50 == 0:
            print(f"adam {step} loss {loss.item():.5f}", flush=True)


def lbfgs_phase(field, points, steps):
    optimizer = torch.optim.LBFGS(field.parameters(), lr=1.0, max_iter=8, history_size=20, line_search_fn="strong_wolfe")
    for step in range(steps):

        def closure():
            optimizer.zero_grad()
            loss = loss_of(field, points)
            loss.backward()
            return loss

        loss = optimizer.step(closure)
        if step % 10 == 0:
            print(f"lbfgs {step} loss {loss.item():.6f}", flush=True)


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    field, points = Field(), collocation(256)
    adam_phase(field, points, 150)
    lbfgs_phase(field, points, 50)
    torch.save(field.state_dict(), "field.pt")
    print(f"final loss {loss_of(field, points).item():.6f}", flush=True)


if __name__ == "__main__":
    main()
