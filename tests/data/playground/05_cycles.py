# A cycle is freed by the collector only.
import gc

import torch

gc.disable()


class Node:
    count = 0

    def __init__(self, n, parent=None):
        self.data = torch.empty(n, device="cuda")
        self.parent = parent
        self.children = []
        if parent is not None:
            parent.children.append(self)
        Node.count += 1

    def total(self):
        return self.data.numel() + sum(child.total() for child in self.children)


class Leaf(Node):
    def __init__(self, n):
        super().__init__(n)
        self.label = "leaf"

    @property
    def size(self):
        return self.data.nbytes

    @staticmethod
    def make(n):
        return Leaf(n)


root = Node(1000)
for n in (2000, 3000):
    Node(n, root)
print(root.total(), Node.count, torch.cuda.memory_allocated())
del root
print("after del", torch.cuda.memory_allocated())
gc.collect()
print("collected", torch.cuda.memory_allocated())
leaf = Leaf.make(5000)
print(leaf.size, leaf.label, isinstance(leaf, Node), type(leaf).__name__)
leaf.data = leaf.data * 2
leaf = None
print("no cycle", torch.cuda.memory_allocated())
holder = []
holder.append(holder)
holder.append(torch.empty(10_000, device="cuda"))
del holder
print(torch.cuda.memory_allocated())
gc.collect()
print(torch.cuda.memory_allocated(), gc.isenabled())
gc.enable()
