import unittest

import torch
from accelerate import Accelerator
from accelerate.utils.memory import find_executable_batch_size


def raise_fake_out_of_memory():
    raise RuntimeError("CUDA out of memory.")


class MemoryTest(unittest.TestCase):
    def test_memory_implicit(self):
        batch_sizes = []

        @find_executable_batch_size(starting_batch_size=128)
        def inner(batch_size):
            batch_sizes.append(batch_size)
            accelerator = Accelerator(cpu=True)
            model = torch.nn.Linear(4, 1)
            opt = torch.optim.SGD(model.parameters(), lr=0.1)
            model, opt = accelerator.prepare(model, opt)
            accelerator.backward(model(torch.ones(batch_size, 4)).mean())
            if batch_size > 8:
                raise_fake_out_of_memory()
            opt.step()

        inner()
        self.assertEqual(batch_sizes[0], 128)
        self.assertLessEqual(batch_sizes[-1], 8)

    def test_start_zero(self):
        @find_executable_batch_size(starting_batch_size=0)
        def inner(batch_size):
            pass

        with self.assertRaises(RuntimeError) as caught:
            inner()
        self.assertIn("No executable batch size found, reached zero.", caught.exception.args[0])

    def test_approach_zero(self):
        @find_executable_batch_size(starting_batch_size=16)
        def inner(batch_size):
            raise_fake_out_of_memory()

        with self.assertRaises(RuntimeError) as caught:
            inner()
        self.assertIn("reached zero", caught.exception.args[0])

    def test_any_other_error(self):
        @find_executable_batch_size(starting_batch_size=16)
        def inner(batch_size):
            raise ValueError("Oops, we had an error!")

        with self.assertRaises(ValueError):
            inner()


if __name__ == "__main__":
    unittest.main()
