"""System calls that are denied to whystop alone, not to the job: the other half of the table of docs/refusals.md.

refusals.py denies a call to the job as well, as a container's profile does; what a Python job cannot live without cannot be
tried that way. Here `deny` (deny.cc) looks whose call it is. It also tells which calls whystop makes at all, so that the
table cannot lack one: test_denials.py compares.
"""

import errno
import functools
import pathlib
import subprocess
import sys
import tempfile

import refusals

DENY = str(refusals.BUILD / "deny")
CANNOT, TIME_UP = 77, 98
PATIENCE_S = 60

# From whystop's first call on, as a profile or an old kernel denies it. The words behind a call are errors that are tried besides
# ENOSYS and EPERM.
FROM_THE_START = {
    "access": "", "clone": "EAGAIN ENOMEM", "clone3": "", "close_range": "", "connect": "EACCES", "dup2": "EBUSY", "eventfd2": "EMFILE", "fallocate": "ENOSPC",
    "fcntl": "EMFILE ENOLCK", "fdatasync": "EIO", "flock": "ENOLCK", "ftruncate": "ENOSPC", "getcwd": "ENOENT", "getdents64": "EIO",
    "getpeername": "", "getrandom": "EAGAIN", "getrusage": "", "ioctl": "ENOTTY", "kill": "", "lseek": "", "lstat": "", "madvise": "", "mkdir": "EROFS ENOSPC",
    "mmap": "ENOMEM EACCES ENODEV", "munmap": "", "newfstatat": "EACCES EIO", "open": "", "openat": "EACCES EMFILE ENFILE ENOSPC EROFS ELOOP EIO", "pidfd_open": "EMFILE",
    "pidfd_send_signal": "", "pipe2": "EMFILE ENFILE", "poll": "EINVAL", "prctl": "", "pread64": "EIO", "prlimit64": "", "process_vm_readv": "", "pwrite64": "ENOSPC EDQUOT EIO",
    "read": "EIO", "readlink": "EACCES", "readlinkat": "", "recvfrom": "", "rename": "EXDEV", "rt_sigaction": "", "rt_sigprocmask": "", "sched_getaffinity": "",
    "sched_yield": "", "sendto": "EAGAIN", "setpgid": "", "setpriority": "", "setsid": "", "signalfd4": "EMFILE ENFILE", "socket": "EMFILE EAFNOSUPPORT",
    "socketpair": "EMFILE", "splice": "EINVAL", "statfs": "EIO", "statx": "", "symlink": "EROFS", "symlinkat": "", "sysinfo": "", "syslog": "", "tee": "EINVAL", "timerfd_create": "EMFILE",
    "timerfd_settime": "", "tgkill": "", "uname": "", "unlink": "", "unlinkat": "EACCES", "wait4": "", "waitid": "", "write": "EIO", "writev": "",
}

# From the moment that the job runs: what a machine runs out of. `f`: only on regular files, as a disk does.
RUNS_OUT = {
    "openat": "EMFILE ENFILE ENOMEM ENOSPC EIO", "pipe2": "EMFILE ENFILE", "dup2": "EMFILE", "fcntl": "EMFILE", "eventfd2": "EMFILE ENFILE ENOMEM",
    "signalfd4": "EMFILE ENFILE ENOMEM", "timerfd_create": "EMFILE ENFILE ENOMEM", "socket": "EMFILE ENFILE", "pidfd_open": "EMFILE ENFILE", "mmap": "ENOMEM",
    "mprotect": "ENOMEM", "clone": "EAGAIN ENOMEM", "clone3": "EAGAIN ENOMEM", "mkdir": "ENOSPC EDQUOT EROFS", "newfstatat": "EIO ENOMEM", "statfs": "EIO",
    "getdents64": "EIO ENOMEM", "readlink": "EIO", "flock": "ENOLCK", "rename": "EIO", "unlink": "EIO", "write f": "EIO ENOSPC EDQUOT EFBIG EROFS", "pwrite64 f": "EIO ENOSPC EDQUOT EFBIG EROFS",
    "read f": "EIO ESTALE", "pread64 f": "EIO ESTALE", "fdatasync f": "EIO ENOSPC EDQUOT", "ftruncate f": "EIO ENOSPC", "fallocate f": "EIO ENOSPC EOPNOTSUPP", "lseek f": "EIO",
}

# Three calls of four are interrupted.
STORMS = {
    "EINTR": "read write openat poll wait4 waitid fcntl ioctl splice tee recvfrom sendto flock connect dup2 getrandom pwrite64 pread64 ftruncate fallocate fdatasync statfs "
             "newfstatat",
    "ENOMEM": "poll", "EAGAIN": "splice tee sendto recvfrom",
}

# Calls that whystop makes, or the C library for it, and that are not denied, each with the reason.
NOT_DENIED = {
    "arch_prctl": "the loader's", "set_tid_address": "the loader's", "set_robust_list": "the C library's, which ignores the answer", "rseq": "the C library aborts",
    "futex": "the C library aborts", "brk": "cannot fail: it answers with the break", "close": "cannot be refused: the descriptor is gone whatever it answers",
    "getpid": "cannot fail", "gettid": "cannot fail", "getppid": "cannot fail", "getuid": "cannot fail", "geteuid": "cannot fail", "getgid": "cannot fail", "getegid": "cannot fail",
    "execve": "the bare job is refused as well", "restart_syscall": "the kernel's own", "clock_gettime": "the C library's, without a call", "gettimeofday": "as clock_gettime",
    "clock_nanosleep": "the C library's sleep, whose answer changes nothing", "exit": "cannot fail", "exit_group": "cannot fail", "rt_sigreturn": "cannot fail",
}


@functools.cache
def numbers():
    """Names and numbers of the system calls here, as the compiler knows them."""
    text = subprocess.run(["cc", "-dM", "-E", "-include", "sys/syscall.h", "-x", "c", "/dev/null"], capture_output=True, text=True, check=True).stdout
    words = (line.split() for line in text.splitlines() if line.startswith("#define __NR_"))
    return {word[1][len("__NR_"):]: int(word[2]) for word in words if word[2].isdigit()}


def deny(when, calls, seen, command, patience=PATIENCE_S):
    return [DENY, refusals.WHYSTOP, when, calls, str(seen), str(patience), "--", *command]


@functools.cache
def bare():
    with tempfile.TemporaryDirectory(prefix="whystop bare ") as folder:
        return refusals.run(refusals.job_command(), pathlib.Path(folder))


def compare(name, when, rules):
    """A run of which whystop is denied these calls, against the bare job."""
    with tempfile.TemporaryDirectory(prefix="whystop denial ") as made:
        folder = pathlib.Path(made) / "watched"
        folder.mkdir()
        recording = str(pathlib.Path(made) / "recording")
        command = [refusals.WHYSTOP, "run", "--notify", "exit 0", "--dir", recording, "--", *refusals.job_command()]
        got = refusals.run(deny(when, rules, pathlib.Path(made) / "seen", command), folder)
        if got[0] == CANNOT:
            return refusals.Outcome(name, "", "not tried: no seccomp filters here")
        outcome = refusals.judge(name, bare(), got, recording)
        if got[0] == TIME_UP:
            outcome.harm = f"something stays behind; {outcome.harm}"
        return outcome


def rule(call, fault):
    """"pwrite64 f" and "EIO" as deny takes it; nothing where the machine has no such call."""
    name, _, files = call.partition(" ")
    number = numbers().get(name)
    return None if number is None else f"{number}:{getattr(errno, fault)}{files}"


def rows():
    """Every case: a name and the arguments of compare()."""
    found = []
    for call, faults in FROM_THE_START.items():
        found += [(f"{call} {fault}", "start", rule(call, fault)) for fault in ["ENOSYS", "EPERM", *faults.split()]]
    for call, faults in RUNS_OUT.items():
        found += [(f"{call.split()[0]} later {fault}", "job", rule(call, fault)) for fault in faults.split()]
    for fault, calls in STORMS.items():
        found += [(f"{call} storm {fault}", "storm", rule(call, fault)) for call in calls.split()]
    return [row for row in found if row[2] is not None]


def single_rules():
    """All that can run out at once, of which one call is chosen by its place."""
    chosen = {}
    for call, faults in RUNS_OUT.items():
        made = rule(call, faults.split()[0])
        if made:
            chosen[call] = made
    return ",".join(chosen.values())


def count_of_single_calls():
    """How many calls of a run single_rules() are about."""
    about = {call.split()[0] for call in RUNS_OUT}
    return sum(count for name, count in calls_made(refusals.job_command()).items() if name in about)


def singles(step, first=1):
    """Every `step`-th call of a run fails, one in each run."""
    rules = single_rules()
    return [(f"call {at}", f"nth:{at}", rules) for at in range(first, count_of_single_calls() + 1, step)]


def calls_made(job, *words, **options):
    """Name -> count of the system calls that `whystop run` with these words makes around a job."""
    names = {number: name for name, number in numbers().items()}
    with tempfile.TemporaryDirectory(prefix="whystop calls ") as made:
        folder = pathlib.Path(made)
        command = deny("never", "", folder / "seen", [refusals.WHYSTOP, "run", *words, "--dir", str(folder / "recording"), "--", *job])
        ran = subprocess.run(command, cwd=folder, timeout=2 * PATIENCE_S, check=False, **{"capture_output": True, "stdin": subprocess.DEVNULL, **options})
        if ran.returncode == CANNOT:
            return {}
        lines = (folder / "seen").read_text().split()
    return {names[int(number)]: int(count) for number, count in zip(lines[::2], lines[1::2])}


def outcomes(chosen=None):
    return refusals.side_by_side(compare, chosen if chosen is not None else rows())


def main():
    found = outcomes()
    print(f"{len(found)} cases, {sum(1 for outcome in found if outcome.harm)} with harm\n")
    print(refusals.table(found))


if __name__ == "__main__":
    sys.exit(main())
