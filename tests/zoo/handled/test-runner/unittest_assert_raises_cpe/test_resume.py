import os
import subprocess
import sys
import tempfile
import unittest

import torch
from torch import nn


class ResumeTest(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.TemporaryDirectory()
        self.addCleanup(self.dir.cleanup)
        self.path = os.path.join(self.dir.name, "last.pt")

    def resume(self):
        return subprocess.check_output([sys.executable, "resume.py", self.path], stderr=subprocess.STDOUT, text=True)

    def test_good_checkpoint(self):
        torch.save({"model": nn.Linear(3, 1).state_dict()}, self.path)
        self.assertEqual(self.resume(), "resumed\n")

    def test_wrong_width(self):
        torch.save({"model": nn.Linear(5, 1).state_dict()}, self.path)
        with self.assertRaises(subprocess.CalledProcessError) as caught:
            self.resume()
        self.assertIn("size mismatch for weight", caught.exception.output)

    def test_missing_checkpoint(self):
        with self.assertRaises(subprocess.CalledProcessError):
            self.resume()


if __name__ == "__main__":
    unittest.main()
