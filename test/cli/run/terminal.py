"""terminal.py TYPED COMMAND...: runs a command at a terminal, types once it asks, and ends with its status.

What stands before a form feed in TYPED is typed at once.
"""
import os
import pty
import sys

early, _, typed = sys.argv[1].rpartition("\f")
command = sys.argv[2:]
seen = b""
done = False


def read(descriptor: int) -> bytes:
    global seen, done
    data = os.read(descriptor, 1024)
    global early
    if early:
        os.write(descriptor, early.encode())
        early = ""
    seen += data
    if not done and b"[y/N] " in seen:
        done = True
        os.write(descriptor, typed.encode())
    return data


status = pty.spawn(command, read, lambda descriptor: b"")
sys.exit(os.waitstatus_to_exitcode(status))
