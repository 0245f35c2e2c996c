import torch


class Video:
    def __init__(self, camera, steps, batch=12):
        self.camera, self.steps, self.batch = camera, steps, batch

    def occupied(self, step):
        if self.camera == 1 and 33 <= step < 40:
            return 0.0
        return 0.7

    def __iter__(self):
        gen = torch.Generator().manual_seed(self.camera)
        for step in range(self.steps):
            frame = torch.randn(self.batch, 18, generator=gen)
            visible = torch.rand(self.batch, generator=gen) < self.occupied(step)
            yield {"frame": frame, "visible": visible, "keypoints": frame[:, :6].cumsum(1)}
