# garbage_collection_threshold hands cached segments back before the limit is reached.
import os

os.environ["PYTORCH_CUDA_ALLOC_CONF"] = "garbage_collection_threshold:0.5"
import torch

MiB = 2**20
total = torch.cuda.get_device_properties(0).total_memory
torch.cuda.set_per_process_memory_fraction(200 * MiB / total)


def take(mib):
    return torch.empty(mib * MiB, dtype=torch.uint8, device="cuda")


a, b = take(40), take(40)
del a, b
c = take(60)
c = None
d = take(30)
d = None
e = take(70)
print(torch.cuda.memory_reserved() // MiB)
f = take(20)
del f
g = take(80)
print(torch.cuda.memory_reserved() // MiB, torch.cuda.max_memory_reserved() // MiB)
try:
    h = take(100)
except torch.OutOfMemoryError as error:
    print(str(error).split(".")[0])
