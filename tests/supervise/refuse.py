"""`python refuse.py NAME=ERRNO[,...] -- COMMAND...`: executes the command with these system calls refused.

A seccomp filter, so it holds for the command and all its children. NAME is a system call; `thread` refuses new threads but
not processes, `fork` the reverse. Exits with 77 where the system has no such filters.
"""

import ctypes
import errno
import os
import platform
import struct
import sys

# Numbers of x86-64 and, where they differ, of aarch64 (None: no such call there).
CALLS = {
    "read": (0, 63), "write": (1, 64), "poll": (7, None), "ppoll": (271, 73), "ioctl": (16, 29), "pread64": (17, 67), "pwrite64": (18, 68),
    "dup2": (33, None), "dup3": (292, 24), "socketpair": (53, 199), "sendto": (44, 206), "recvfrom": (45, 207), "fcntl": (72, 25),
    "flock": (73, 32), "fsync": (74, 82), "fdatasync": (75, 83), "ftruncate": (77, 46), "getcwd": (79, 17), "rename": (82, None),
    "renameat": (264, 38), "renameat2": (316, 276), "mkdir": (83, None), "mkdirat": (258, 34), "symlink": (88, None), "symlinkat": (266, 36),
    "readlink": (89, None), "readlinkat": (267, 78), "setsid": (112, 157), "getsid": (124, 156), "prctl": (157, 167), "setrlimit": (160, None),
    "prlimit64": (302, 261), "kill": (62, 129), "wait4": (61, 260), "waitid": (247, 95), "getdents64": (217, 61), "openat": (257, 56),
    "newfstatat": (262, 79), "fstat": (5, 80), "statx": (332, 291), "statfs": (137, 43), "fstatfs": (138, 44), "splice": (275, 76), "tee": (276, 77),
    "timerfd_create": (283, 85), "timerfd_settime": (286, 86), "signalfd4": (289, 74), "eventfd2": (290, 19), "pipe2": (293, 59),
    "fallocate": (285, 47), "pidfd_open": (434, 434), "pidfd_send_signal": (424, 424), "close_range": (436, 436), "clone": (56, 220),
    "clone3": (435, 435), "fork": (57, None), "vfork": (58, None), "sysinfo": (99, 179), "getrusage": (98, 165), "uname": (63, 160),
    "rt_sigprocmask": (14, 135), "sched_getaffinity": (204, 123), "memfd_create": (319, 279), "mlock": (149, 228), "madvise": (28, 233),
    "getrandom": (318, 278), "lseek": (8, 62), "unlink": (87, None), "unlinkat": (263, 35), "access": (21, None), "faccessat2": (439, 439),
    "syslog": (103, 116), "setpriority": (141, 140), "sched_yield": (24, 124), "membarrier": (324, 283), "rseq": (334, 293),
    "socket": (41, 198), "connect": (42, 203), "getsockopt": (55, 209), "fadvise64": (221, 223), "copy_file_range": (326, 285),
    "inotify_init1": (294, 26), "process_vm_readv": (310, 270), "ptrace": (101, 117), "msync": (26, 227), "munmap": (11, 215), "sendmsg": (46, 211),
}
CLONE_THREAD = 0x00010000
LOAD, JUMP_EQUAL, JUMP_SET, RETURN = 0x20, 0x15, 0x45, 0x06
ALLOW, REFUSE = 0x7FFF0000, 0x00050000


def number_of(name):
    column = {"x86_64": 0, "aarch64": 1}.get(platform.machine())
    if column is None:
        sys.exit(77)
    return CALLS[name][column]


def refused(name, fault):
    """The filter's instructions for one refusal, the number of the call being loaded."""
    if name in ("thread", "fork"):
        # clone3 hides its flags in memory; without it libc uses clone, whose flags come in a register.
        rows = [(JUMP_EQUAL, 0, 1, number_of("clone3")), (RETURN, 0, 0, REFUSE | errno.ENOSYS)]
        thread_steps = (0, 1) if name == "thread" else (1, 0)
        rows += [(JUMP_EQUAL, 0, 4, number_of("clone")), (LOAD, 0, 0, 16), (JUMP_SET, *thread_steps, CLONE_THREAD),
                 (RETURN, 0, 0, REFUSE | fault), (RETURN, 0, 0, ALLOW)]
        return rows
    number = number_of(name)
    return [] if number is None else [(JUMP_EQUAL, 0, 1, number), (RETURN, 0, 0, REFUSE | fault)]


def install(wanted):
    rows = [(LOAD, 0, 0, 0)]
    for name, fault in wanted:
        rows += refused(name, fault)
    rows.append((RETURN, 0, 0, ALLOW))
    code = b"".join(struct.pack("HBBI", *row) for row in rows)
    held = ctypes.create_string_buffer(code, len(code))
    program = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(rows), ctypes.addressof(held)))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(38, 1, 0, 0, 0) != 0 or libc.prctl(22, 2, program, 0, 0) != 0:
        sys.exit(77)


def main():
    split = sys.argv.index("--")
    wanted = [item.split("=") for item in ",".join(sys.argv[1:split]).split(",")]
    command = sys.argv[split + 1 :]
    install([(name, getattr(errno, fault)) for name, fault in wanted])
    os.execvp(command[0], command)


main()
