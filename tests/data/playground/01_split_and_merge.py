# One 20 MiB segment is split into blocks; frees join neighbours again.
import torch

MiB = 1024 * 1024


def show(what):
    allocated = torch.cuda.memory_allocated() / MiB
    reserved = torch.cuda.memory_reserved() / MiB
    print(f"{what:<12} allocated {allocated:6.2f} MiB, reserved {reserved:6.2f} MiB")


a = torch.empty(3 * MiB, dtype=torch.uint8, device="cuda")
b = torch.empty(3 * MiB, dtype=torch.uint8, device="cuda")
c = torch.empty(3 * MiB, dtype=torch.uint8, device="cuda")
show("three blocks")
del b
show("hole")
d = torch.empty(2 * MiB, dtype=torch.uint8, device="cuda")
show("hole filled")
del a, c
e = torch.empty(12 * MiB, dtype=torch.uint8, device="cuda")
show("new segment")
del d, e
torch.cuda.empty_cache()
show("handed back")
