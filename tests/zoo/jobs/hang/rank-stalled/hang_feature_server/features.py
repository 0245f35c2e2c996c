import socket


class FeatureClient:
    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.lines = self.socket.makefile("rw")

    def features(self, key):
        self.lines.write(f"{key}\n")
        self.lines.flush()
        return [float(value) for value in self.lines.readline().split()]
