"""What is kept of a stream: its beginning and its end."""


class Copy:
    """The first and the last bytes of a stream."""

    def __init__(self, head_bytes, tail_bytes):
        self.head_bytes, self.tail_bytes = head_bytes, tail_bytes
        self.head, self.tail, self.total = bytearray(), bytearray(), 0

    def add(self, data):
        """Takes the next bytes."""
        self.total += len(data)
        room = self.head_bytes - len(self.head)
        if room > 0:
            self.head += data[:room]
            data = data[room:]
        if data:
            self.tail += data
            if len(self.tail) > 2 * self.tail_bytes:  # cut rarely: a flood costs no more than its reading
                del self.tail[: len(self.tail) - self.tail_bytes]

    def parts(self):
        """Returns head, tail, bytes left out between; what a cut parts is for those who know secrets to leave out."""
        head, tail = bytes(self.head), bytes(self.tail[-self.tail_bytes :])
        if self.total == len(head) + len(tail):
            return head + tail, b"", 0
        return head, tail, self.total - len(head) - len(tail)
