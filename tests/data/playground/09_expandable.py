# Expandable segments grow in place and give back whole pages.
import os

os.environ["PYTORCH_CUDA_ALLOC_CONF"] = "expandable_segments:True"
import torch

MiB = 1024 * 1024


def bytes_of(n):
    return torch.empty(n, dtype=torch.uint8, device="cuda")


a = bytes_of(5 * MiB)
b = bytes_of(30 * MiB)
c = bytes_of(5 * MiB)
small = [bytes_of(1000) for _ in range(3)]
print(torch.cuda.memory_reserved() // MiB)
del a, b
torch.cuda.empty_cache()
print(torch.cuda.memory_reserved() // MiB)
d = bytes_of(21 * MiB)
e = bytes_of(3 * MiB)
print(torch.cuda.memory_allocated(), torch.cuda.memory_reserved() // MiB)
del c, d, e, small
torch.cuda.empty_cache()
print(torch.cuda.memory_reserved())
