"""Linux namespaces by way of the C library, and the few programs that set them up.

Nothing here has a name outside: a namespace lives as long as the processes in it, and the first process of a PID
namespace takes all others with it when it ends, however it ends. So nothing is left to be removed later.
"""
import ctypes
import os
import signal
import subprocess

NEWNS, NEWUTS, NEWIPC = 0x00020000, 0x04000000, 0x08000000
NEWUSER, NEWPID, NEWNET = 0x10000000, 0x20000000, 0x40000000
BIND, RECURSIVE = 0x1000, 0x4000
PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None, use_errno=True)


class NotAllowed(Exception):
    """Error of a system that refuses Linux namespaces; the message names the call and the reason."""


def unshare(flags):
    """Moves this process into new Linux namespaces of these kinds. @raises NotAllowed if the system refuses"""
    if _libc.unshare(flags) != 0:
        raise NotAllowed(f"unshare: {os.strerror(ctypes.get_errno())}")


def unshare_as_root(flags):
    """Moves this process into new Linux namespaces, as root, or as a user that is root in a user namespace of its own."""
    if os.geteuid() == 0:
        unshare(flags)
        return
    user, group = os.geteuid(), os.getegid()
    unshare(NEWUSER | flags)
    for name, text in (("setgroups", "deny"), ("uid_map", f"0 {user} 1"), ("gid_map", f"0 {group} 1")):
        try:
            with open(f"/proc/self/{name}", "w") as file:
                file.write(text)
        except OSError as e:
            raise NotAllowed(f"/proc/self/{name}: {e.strerror}") from e


def die_with_parent(parent):
    """Makes the kernel kill this process when `parent` ends. Called in the child, right after fork()."""
    _libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:  # it has ended before
        os._exit(1)


def call(*command):
    """Runs a program that sets up a namespace, as ip or mount. @raises NotAllowed with its message if it fails"""
    got = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if got.returncode != 0:
        why = got.stderr.strip().splitlines()
        raise NotAllowed(f"{' '.join(command)}: {why[-1] if why else got.returncode}")


def private_mounts():
    """Makes the mounts of this process's mount namespace invisible in others."""
    call("mount", "--make-rprivate", "/")


def fresh_sys():
    """Mounts /sys anew in this namespace: it shows the network interfaces of the namespace in which it was mounted."""
    subprocess.run(["mount", "-t", "sysfs", "sysfs", "/sys"], stderr=subprocess.DEVNULL, check=False)


def fresh_folder(path, keep):
    """Mounts an empty folder (tmpfs) of this namespace at `path`, with the folders in `keep` bound to where they were."""
    kept = [k for k in keep if k == path or k.startswith(path + "/")]
    if path in kept:
        return
    held = [(k, os.open(k, os.O_PATH | os.O_DIRECTORY)) for k in kept]  # by number, as no path leads there any more
    call("mount", "-t", "tmpfs", "-o", "mode=1777", "tmpfs", path)
    for k, number in held:
        os.makedirs(k, exist_ok=True)
        if _libc.mount(f"/proc/self/fd/{number}".encode(), k.encode(), None, ctypes.c_ulong(BIND | RECURSIVE), None) != 0:
            raise NotAllowed(f"mount of {k}: {os.strerror(ctypes.get_errno())}")
        os.close(number)


def set_host_name(name):
    if _libc.sethostname(name.encode(), len(name)) != 0:
        raise NotAllowed(f"sethostname: {os.strerror(ctypes.get_errno())}")


def entering(pid, processes=False):
    """Returns the words (nsenter ...) before a command that run it in the namespaces of a host's process, in this folder.

    @param processes  True to enter the host's PID namespace too
    """
    return ["nsenter", "--target", str(pid), "--net", "--uts", "--mount", "--ipc", *(["--pid"] if processes else []),
            f"--wd={os.getcwd()}"]
