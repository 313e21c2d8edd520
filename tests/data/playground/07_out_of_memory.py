# Catch an out-of-memory error and go on with less.
import torch

GiB = 1024**3
total = torch.cuda.get_device_properties(0).total_memory
torch.cuda.set_per_process_memory_fraction(2 * GiB / total)
hold = []
try:
    while True:
        hold.append(torch.empty(300 * 1024**2, dtype=torch.uint8, device="cuda"))
except torch.OutOfMemoryError as e:
    print(e)
print(len(hold), torch.cuda.memory_allocated() // 1024**2)
hold.pop(0)
n = GiB
while n > 1024:
    try:
        hold.append(torch.empty(n, dtype=torch.uint8, device="cuda"))
        print("got", n)
        break
    except torch.cuda.OutOfMemoryError:
        n //= 2
del hold[1:3]
small = torch.zeros(1000, device="cuda")
try:
    big = torch.empty(3 * GiB // 2, dtype=torch.uint8, device="cuda")
except RuntimeError as e:
    print(type(e), str(e)[:60])
stats = torch.cuda.memory_stats()
print(stats["num_ooms"], stats["num_alloc_retries"], stats["num_device_alloc"], stats["num_device_free"])
try:
    torch.empty(2**61, dtype=torch.uint8, device="cuda")
except torch.OutOfMemoryError as e:
    print(e)
print(torch.cuda.memory_reserved() // 1024**2)
