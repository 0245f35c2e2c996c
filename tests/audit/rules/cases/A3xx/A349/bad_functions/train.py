from pictures import jitter
from torch.utils.data import Dataset


class Rooms(Dataset):
    def __init__(self, frames, depths):
        self.frames, self.depths = frames, depths

    def __len__(self):
        return len(self.frames)

    def __getitem__(self, index):
        frame, depth = self.frames[index], self.depths[index]
        return {"frame": jitter(frame), "depth": jitter(depth)}
