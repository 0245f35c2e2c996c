"""Serves the supervisor and the agents; see children/relay.py for what they say."""

import array
import fcntl
import json
import os
import resource
import select
import socket
import struct
import subprocess
import termios
import threading
from contextlib import suppress
from pathlib import Path

from .bounded_copy import Copy
from .destination import Destination, Source, is_ready

HEAD_BYTES, TAIL_BYTES = 128 << 10, 512 << 10  # of all output
ONE_HEAD_BYTES, ONE_TAIL_BYTES = 32 << 10, 96 << 10  # of one process
MANY_BYTES = 8 << 20  # once all copies of processes together hold this much, each further one gets little
LITTLE_BYTES = 16 << 10
MESSAGE_BYTES = 512
THREADLESS_MS = 20  # between two looks at the streams, where they have no threads
SETTLED_S = 1.0  # for what lies in the pipes; longer only where our reader does not read


class Relay:
    """All of it."""

    def __init__(self, control, listener, folder, keeper):
        self.control = socket.socket(fileno=control)
        self.folder, self.keeper = Path(folder), keeper
        self.listener = socket.socket(fileno=listener)
        self.destinations = {}
        self.threadless = []  # destinations for which there was no thread
        self.known = {}  # name of a stream's file -> destination
        self.copies = {}  # name -> Copy
        self.all = Copy(HEAD_BYTES, TAIL_BYTES)
        self.all_lock = threading.Lock()
        self.finishing = self.orphaned = False
        self.lost = 0
        self.callers = {}  # agents that have connected
        self.poll = select.poll()
        self.woken, self.wake = os.pipe()
        soft = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
        self.most_sources = soft // 2

    def keep(self, data):
        """Adds to the copy of all output."""
        with self.all_lock:
            self.all.add(data)

    def drop(self, source):
        """Closes a source; its name goes first, since the kernel may give it to another terminal at once."""
        with suppress(OSError):  # the job removed it, or the folder
            source.name_file.unlink()
        os.close(source.fd)

    def add_main(self, number, fd, name):
        """Takes over one of the two streams that the job was started with."""
        destination = self.destinations[number] = self.known[name] = Destination(self, number)
        os.set_inheritable(fd, False)
        destination.add(Source(fd, self.folder / name, None))

    def say(self, line):
        """Answers the supervisor."""
        with suppress(OSError):  # the supervisor is gone
            self.control.sendall(line.encode() + b"\n")

    def tell_main(self):
        """Wakes the main thread."""
        os.write(self.wake, b"x")

    def run(self):
        """Serves the supervisor and the agents until the end."""
        for destination in self.destinations.values():
            try:
                destination.thread.start()
            except RuntimeError:  # the user may start no more: the main thread does it all, one after the other
                self.threadless.append(destination)
        poll = self.poll
        standing = (self.control.fileno(), self.listener.fileno(), self.woken)
        for fd in standing:
            poll.register(fd, select.POLLIN)
        pending = b""
        while True:
            for fd, _ in poll.poll(THREADLESS_MS if self.threadless else None):
                if fd == self.woken:
                    os.read(self.woken, 4096)
                elif fd in self.callers:
                    if self.listen_to(fd):
                        poll.unregister(fd)
                elif fd not in standing:
                    continue  # a caller that was heard meanwhile
                elif self.listener is not None and fd == self.listener.fileno():
                    self.accept()
                    if self.listener is None:
                        poll.unregister(fd)
                elif not self.orphaned:
                    data = self.hear()
                    if not data:
                        self.orphaned = True
                        poll.unregister(self.control.fileno())
                        self.write_copies()
                    *lines, pending = (pending + data).split(b"\n")
                    for line in lines:
                        if self.obey(line):
                            return
            for destination in self.threadless:
                destination.step(0)
            if self.orphaned:
                for destination in self.destinations.values():
                    destination.let_go()
                if not any(one.sources for one in self.destinations.values()):
                    self.write_copies()
                    return

    def hear(self):
        """Returns what the supervisor says, nothing where it is gone."""
        try:
            return self.control.recv(4096)
        except ConnectionResetError:  # it was killed before it read an answer of ours
            return b""

    def obey(self, line):
        """Does what the supervisor says; True where that was the last thing."""
        if line == b"size":
            self.resize()
            self.say("resized")
        elif line == b"copies":
            self.write_copies()
            self.say("copied")
        elif line == b"total":
            self.say("total %d" % self.all.total)
        elif line == b"leave":
            self.settle_all()
            self.write_copies()
            self.say("left")
        elif line == b"finish":
            if self.listener is not None:
                self.accept()
            for fd in list(self.callers):
                self.listen_to(fd)
            self.finishing = True
            for destination in self.destinations.values():
                os.write(destination.wake, b"x")
            for destination in self.destinations.values():
                if destination in self.threadless:
                    destination.run()
                else:
                    destination.thread.join()
            self.write_copies()
            self.say("finished %d %d" % (self.all.total, self.lost))
            return True
        return False

    def settle_all(self):
        """Waits until all that lies in the pipes now has been passed on, as long as our reader reads."""
        ours, theirs = socket.socketpair()
        asked = [(one, source.name_file.name) for one in self.destinations.values() for source in one.known_sources()]
        for destination, name in asked:
            destination.ask_to_settle(name, theirs.dup())
        theirs.close()
        ours.settimeout(SETTLED_S)
        with suppress(OSError):
            while ours.recv(len(asked) + 1):  # nothing comes once each has answered and closed
                pass
        ours.close()

    def resize(self):
        """Gives every terminal of the job the size of the real one."""
        for number, destination in self.destinations.items():
            try:
                size = fcntl.ioctl(number, termios.TIOCGWINSZ, b"\0" * 8)
                for fd in list(destination.sources):
                    fcntl.ioctl(fd, termios.TIOCSWINSZ, size)
            except OSError:
                continue  # no terminal

    def accept(self):
        """Takes over the streams of processes that have just started."""
        while True:
            try:
                connection = self.listener.accept()[0]
            except OSError:
                break
            connection.setblocking(False)
            self.callers[connection.fileno()] = connection
            if not self.listen_to(connection.fileno()):
                self.poll.register(connection, select.POLLIN)  # it has connected and not spoken yet
        if sum(len(one.sources) for one in self.destinations.values()) > self.most_sources:
            self.listener.close()  # further processes keep writing where they did
            self.listener = None

    def listen_to(self, fd):
        """Takes what an agent sends; False where it has sent nothing yet."""
        connection = self.callers.pop(fd)
        try:
            self.take_over(connection)
        except BlockingIOError:
            self.callers[fd] = connection
            return False
        except (OSError, ValueError, struct.error):
            pass  # not an agent of ours, or it died; what it sent is closed
        connection.close()
        return True

    def take_over(self, connection):
        """Reads one agent's message and adds the streams it sent."""
        credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
        message, ancillary, _, _ = connection.recvmsg(MESSAGE_BYTES, socket.CMSG_SPACE(8))
        fds = array.array("i")
        for _, kind, data in ancillary:
            if kind == socket.SCM_RIGHTS:
                fds.frombytes(data[: len(data) - len(data) % 4])
        words = message.decode("ascii", "replace").split()
        ours = struct.unpack("3i", credentials)[1] == os.getuid()
        if ours and words[:1] == ["end"] and not fds:
            for name in words[1:3]:
                self.ask_to_settle(name, connection)
            return
        # pid, start, then for each descriptor: name of the stream before, name of the new one, 1 or 2
        if not ours or len(words) != 2 + 3 * len(fds) or not all(word.isdigit() for word in (*words[:2], *words[4::3])):
            for fd in fds:
                os.close(fd)
            return
        for fd, (before, name, number) in zip(fds, _triples(words[2:]), strict=True):
            os.set_inheritable(fd, False)
            if before not in self.known:  # its parent has spoken before, and waits to be heard
                for caller in list(self.callers):
                    if self.listen_to(caller):
                        self.poll.unregister(caller)
            # Nothing may be refused here: the writer would take it for the end of its reader.
            destination = self.known.get(before) or self.destinations.get(int(number)) or self.destinations[1]
            self.known[name] = destination
            label = "%s-%s.%s.txt" % (words[0], words[1], "stdout" if number == "1" else "stderr")
            destination.add(Source(fd, self.folder / name, self.copy(label)))
            self.ask_to_settle(before, connection)

    def ask_to_settle(self, name, connection):
        """Has what a stream holds passed on before the agent goes on."""
        agent, destination = connection.dup(), self.known.get(name)
        agent.setblocking(False)
        if destination is None or not is_ready(destination.number, select.POLLOUT, 0):
            agent.close()  # nothing is known of it, or our reader does not read: there is nothing to wait for
        else:
            destination.ask_to_settle(name, agent)

    def copy(self, label):
        """Returns the copy of one stream of one process."""
        if label not in self.copies:
            kept = sum(len(one.head) + len(one.tail) for one in self.copies.values())
            many = kept > MANY_BYTES
            self.copies[label] = Copy(*(LITTLE_BYTES,) * 2 if many else (ONE_HEAD_BYTES, ONE_TAIL_BYTES))
        return self.copies[label]

    def write_copies(self):
        """Hands the copies to the keeper, which hides secrets, and waits until it has written them."""
        with self.all_lock:
            parts = [("all.txt", *self.all.parts())]
        parts += [(label, *copy.parts()) for label, copy in list(self.copies.items()) if copy.total]
        try:
            keeper = subprocess.Popen(
                json.loads(self.keeper), stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
            )
            for label, head, tail, left_out in parts:
                keeper.stdin.write(json.dumps([label, len(head), len(tail), left_out]).encode() + b"\n" + head + tail)
            keeper.stdin.close()
            keeper.wait()
        except OSError:
            pass  # no process, no memory: the report says that there is no output


def _triples(words):
    return [tuple(words[at : at + 3]) for at in range(0, len(words), 3)]
