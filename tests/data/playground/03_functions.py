# Locals of a function go when it returns; what it returns stays.
import torch


def work(n):
    a = torch.ones(n, device="cuda")
    b = a * 2
    c = b + a
    print("inside", torch.cuda.memory_allocated())
    return c.view(-1, 8)


def takes(t):
    del t
    print("after del in takes", torch.cuda.memory_allocated())


def keep(t, store=[]):
    store.append(t)
    return len(store)


out = work(80_000)
print("outside", torch.cuda.memory_allocated(), out.shape)
takes(torch.empty(500_000, device="cuda"))
takes(out)
print(keep(torch.empty(1000, device="cuda")), keep(torch.empty(2000, device="cuda")))


def outer():
    big = torch.empty(300_000, device="cuda")
    small = torch.empty(10, device="cuda")

    def inner():
        nonlocal small
        small = torch.cat([small, small])
        return big.numel() + small.numel()

    return inner


f = outer()
print(f(), f(), torch.cuda.memory_allocated())
del f
print(torch.cuda.memory_allocated())


def fib(n, depth=0, *, scale=1, **rest):
    t = torch.empty(n * 512 * scale, dtype=torch.uint8, device="cuda")
    if n <= 1:
        return n
    return fib(n - 1, depth + 1, scale=scale) + fib(n - 2, depth + 1, **rest)


print(fib(6, scale=4), torch.cuda.max_memory_allocated())
square = lambda t, *more: t * t + len(more)
print(square(torch.ones(3, 4, device="cuda"), 1, 2).shape)
args = (torch.ones(2, 1, device="cuda"),)
print(square(*args, *[1, 2, 3]).shape, torch.cuda.memory_allocated())
