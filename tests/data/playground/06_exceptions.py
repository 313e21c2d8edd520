# A traceback keeps the frames that it went through, and they keep their locals.
import torch


def fails(n):
    scratch = torch.empty(n, device="cuda")
    print("in fails", torch.cuda.memory_allocated())
    raise ValueError(f"no room for {n}")


try:
    fails(100_000)
except ValueError as e:
    print("caught", e, torch.cuda.memory_allocated())
print("handler ended", torch.cuda.memory_allocated())

kept = None
try:
    fails(200_000)
except (KeyError, ValueError) as e:
    kept = e
print("kept", torch.cuda.memory_allocated())
kept.__traceback__ = None
print("traceback dropped", torch.cuda.memory_allocated())


def finally_runs():
    t = torch.ones(50_000, device="cuda")
    try:
        return t.numel()
    finally:
        del t
        print("finally", torch.cuda.memory_allocated())


print(finally_runs())
for i in range(3):
    x = torch.empty(1000 * (i + 1), device="cuda")
    try:
        if i == 1:
            continue
        y = x * 2
        if i == 2:
            break
    finally:
        print("loop", i, torch.cuda.memory_allocated())
else:
    print("not reached")


class Guard:
    def __init__(self, n):
        self.t = torch.empty(n, device="cuda")

    def __enter__(self):
        return self.t

    def __exit__(self, kind, value, traceback):
        self.t = None
        return kind is ZeroDivisionError


with Guard(300_000) as t:
    print(t.shape)
    del t
    1 / 0
print("guarded", torch.cuda.memory_allocated())


class MyError(RuntimeError):
    pass


try:
    try:
        fails(10)
    except ValueError as e:
        raise MyError("again", 1) from e
except MyError as e:
    print(type(e).__name__, e, repr(e.__cause__), torch.cuda.memory_allocated())
try:
    torch.ones(2, 3, device="cuda") + torch.ones(4, device="cuda")
except RuntimeError as e:
    print(e)
try:
    torch.empty(6, device="cuda").view(4, -1)
except RuntimeError as e:
    print(e)
try:
    [1, 2][5]
except IndexError as e:
    print(e)
try:
    {}["missing"]
except KeyError as e:
    print(e)
print(torch.cuda.memory_allocated())
