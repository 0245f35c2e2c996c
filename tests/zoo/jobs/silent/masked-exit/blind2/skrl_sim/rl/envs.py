import torch


class CartEnv:
    """A vectorised point mass that is to be kept near the origin."""

    def __init__(self, num_envs, seed, dt=0.1):
        self.num_envs, self.dt = num_envs, dt
        self.generator = torch.Generator().manual_seed(seed)
        self.reset()

    def reset(self):
        self.state = torch.randn(self.num_envs, 2, generator=self.generator)
        return self.state

    def step(self, action):
        position, velocity = self.state.unbind(1)
        velocity = velocity + self.dt * action.clamp(-2, 2)
        position = position + self.dt * velocity
        self.state = torch.stack([position, velocity], 1)
        return self.state, -(position**2 + 0.1 * velocity**2)
