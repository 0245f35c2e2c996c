import os
import signal
import sys
import time
import unittest

import torch
import torch.multiprocessing as mp


def _train(steps):
    model = torch.nn.Linear(2, 1)
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(steps):
        opt.zero_grad()
        model(torch.ones(4, 2)).mean().backward()
        opt.step()


def _exit(code):
    _train(2)
    sys.exit(code)


def _raise():
    _train(2)
    raise ValueError("a worker that fails on purpose")


def _sleep(ready):
    _train(2)
    ready.set()
    time.sleep(100)


def _abort():
    _train(1)
    os.kill(os.getpid(), signal.SIGABRT)


class ExitCodeTest(unittest.TestCase):
    ctx = mp.get_context("fork")

    def exitcode(self, target, *args):
        process = self.ctx.Process(target=target, args=args)
        process.daemon = True
        process.start()
        process.join(30)
        return process.exitcode

    def test_sys_exit(self):
        for code, expected in ((0, 0), (None, 0), (7, 7), ("message", 1), (True, 1)):
            with self.subTest(code=code):
                self.assertEqual(self.exitcode(_exit, code), expected)

    def test_uncaught_exception(self):
        self.assertEqual(self.exitcode(_raise), 1)

    def test_abort(self):
        self.assertEqual(self.exitcode(_abort), -signal.SIGABRT)

    def test_terminate_and_kill(self):
        for method, expected in (("terminate", -signal.SIGTERM), ("kill", -signal.SIGKILL)):
            ready = self.ctx.Event()
            process = self.ctx.Process(target=_sleep, args=(ready,))
            process.start()
            self.assertTrue(ready.wait(30))
            getattr(process, method)()
            process.join()
            self.assertEqual(process.exitcode, expected)


if __name__ == "__main__":
    torch.set_num_threads(1)
    unittest.main(verbosity=2)
