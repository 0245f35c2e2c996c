from torch import nn


class Frames(nn.Module):
    def forward(self, video):
        batch, time, channels, height, width = video.shape
        clips = video.reshape((batch, channels, time, height, width))
        return self.conv(clips)
