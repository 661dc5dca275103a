"""What keeps a candidate, which nobody wrote, from doing harm. Linux; elsewhere only the resource limits work.

Landlock: https://docs.kernel.org/userspace-api/landlock.html
"""

import ctypes
import fcntl
import os
import resource
import signal
import socket
import struct
import sys

_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER, _PR_SET_NO_NEW_PRIVS = 1, 36, 38
_CLONE_NEWUSER, _CLONE_NEWNET = 0x10000000, 0x40000000
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446  # the same on every architecture
_VERSION, _PATH_BENEATH = 1, 1
_WRITE_FILE, _REMOVE_AND_MAKE, _REFER, _TRUNCATE = 1 << 1, 0b1_1111_1111 << 4, 1 << 13, 1 << 14
_SCOPE_ABSTRACT_SOCKETS_AND_SIGNALS = 0b11

_MOST_BYTES_IN_A_FILE = 1 << 30
_MOST_OPEN_FILES = 4096

_linux = sys.platform == "linux"
_libc = ctypes.CDLL(None, use_errno=True)


def landlock_version():
    """The Landlock ABI of this kernel; 0 where there is none."""
    return max(0, _libc.syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), _VERSION)) if _linux else 0


def confine(folders):
    """Let this process and its descendants write below `folders` and to devices only, and signal only each other.

    Returns whether the kernel can do that.
    """
    version = landlock_version()
    if not version:
        return False
    change = _WRITE_FILE | _REMOVE_AND_MAKE | (_REFER if version >= 2 else 0) | (_TRUNCATE if version >= 3 else 0)
    attributes = struct.pack("<QQQ", change, 0, _SCOPE_ABSTRACT_SOCKETS_AND_SIGNALS if version >= 6 else 0)
    size = 24 if version >= 6 else 8
    ruleset = _libc.syscall(_CREATE_RULESET, attributes, ctypes.c_size_t(size), 0)
    if ruleset < 0:
        return False
    for folder in folders:
        _allow(ruleset, folder, change)
    _allow(ruleset, "/dev", change & (_WRITE_FILE | _TRUNCATE))
    _allow(ruleset, "/dev/shm", change)  # semaphores of multiprocessing
    _libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    done = _libc.syscall(_RESTRICT_SELF, ruleset, 0) == 0
    os.close(ruleset)
    return done


def cut_network():
    """Leave this process and its descendants a loopback interface of their own and nothing else; whether that worked.

    Made once, before there are threads: a namespace takes milliseconds, and its children inherit it.
    """
    if not _linux:
        return False
    uid, gid = os.getuid(), os.getgid()
    if _libc.unshare(_CLONE_NEWNET) != 0:
        if _libc.unshare(_CLONE_NEWUSER | _CLONE_NEWNET) != 0:
            return False
        for file, text in (("setgroups", "deny"), ("uid_map", f"{uid} {uid} 1"), ("gid_map", f"{gid} {gid} 1")):
            with open("/proc/self/" + file, "w") as opened:
                opened.write(text)
    _raise_loopback()
    return True


def adopt_orphans():
    """Become the parent of descendants whose parent has ended, so that none escapes."""
    if _linux:
        _libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def die_with(parent):
    """End this process when its parent does."""
    if _linux:
        _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != parent:
            os._exit(1)


def limit_resources(cpu_seconds):
    """No core dumps, no giant files, and an end to CPU time even if nobody watches."""
    _lower(resource.RLIMIT_CORE, 0)
    _lower(resource.RLIMIT_FSIZE, _MOST_BYTES_IN_A_FILE)
    _lower(resource.RLIMIT_NOFILE, _MOST_OPEN_FILES)
    _lower(resource.RLIMIT_CPU, int(cpu_seconds) + 2)
    if _linux:  # if memory runs out after all, it is the candidate that goes
        with open("/proc/self/oom_score_adj", "w") as file:
            file.write("1000")


def _allow(ruleset, path, rights):
    try:
        folder = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    rule = struct.pack("<Qi", rights, folder)
    _libc.syscall(_ADD_RULE, ruleset, _PATH_BENEATH, rule, 0)
    os.close(folder)


def _raise_loopback():
    get_flags, set_flags, up = 0x8913, 0x8914, 1
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        request = struct.pack("16sh14x", b"lo", 0)
        flags = struct.unpack("16sh14x", fcntl.ioctl(any_socket, get_flags, request))[1]
        fcntl.ioctl(any_socket, set_flags, struct.pack("16sh14x", b"lo", flags | up))


def _lower(kind, value):
    hard = resource.getrlimit(kind)[1]
    if hard != resource.RLIM_INFINITY:
        value = min(value, hard)
    resource.setrlimit(kind, (value, hard))
