"""A pack of clips in one block of memory: a header of eight bytes, then the frames."""
import ctypes
import struct

HEADER = struct.Struct("<II")


class Pack:
    def __init__(self, count, frame_bytes=48, bad=None):
        self.offsets, parts, position = [], [], 0
        for number in range(count):
            frames = bytes((number * 7 + k) % 256 for k in range(frame_bytes))
            length = frame_bytes if number != bad else 0x7FFF0000  # the upload of this clip broke off
            parts.append(HEADER.pack(length, number % 3) + frames)
            self.offsets.append(position)
            position += len(parts[-1])
        self.block = ctypes.create_string_buffer(b"".join(parts))

    def __len__(self):
        return len(self.offsets)

    def header(self, number):
        return HEADER.unpack_from(self.block, self.offsets[number])

    def frames(self, number):
        length, _ = self.header(number)
        start = ctypes.addressof(self.block) + self.offsets[number] + HEADER.size
        return ctypes.string_at(start, length)
