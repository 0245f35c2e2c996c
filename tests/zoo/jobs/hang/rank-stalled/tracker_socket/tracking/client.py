import json
import socket


class Tracker:
    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.stream = self.socket.makefile("rwb")

    def log(self, **values):
        self.stream.write(json.dumps(values).encode() + b"\n")
        self.stream.flush()
        answer = self.stream.readline()
        if answer.strip() != b"ok":
            raise ConnectionError(answer)
