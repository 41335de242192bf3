"""Slurm without systemd, which leaves nothing behind: munged, slurmctld, and a slurmd on each emulated host."""
import os
import pwd
import secrets
import subprocess
import sys
import time

from hosts import namespaces as ns

PROGRAMS = ("munged", "slurmctld", "slurmd", "srun", "sbatch", "scancel", "sinfo")


class Failed(Exception):
    """Error of a daemon of Slurm that does not start; the message names it, with the end of its log."""


def configuration(folder, hosts, cpus):
    """Returns slurm.conf: all state lies in `folder`; each node takes `cpus` tasks, however few cores there are."""
    nodes = "".join(f"NodeName={h.name} NodeAddr={h.address} CPUs={cpus} State=UNKNOWN\n" for h in hosts)
    return f"""ClusterName=merganser
SlurmctldHost={hosts[0].name}({hosts[0].address})
AuthType=auth/munge
AuthInfo=socket={folder}/munge/socket
CryptoType=crypto/munge
SlurmUser=root
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool/%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.%n.pid
SlurmctldLogFile={folder}/log/slurmctld
SlurmdLogFile={folder}/log/slurmd.%n
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
ReturnToService=2
SlurmdParameters=config_overrides
KillWait=5
{nodes}PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


class Slurm:
    """Slurm on a set of emulated hosts: munged, slurmctld and a slurmd each. Starts with start(), ends with their namespaces.

    @param files  the folder of the set of hosts, in memory and seen by them only
    """

    def __init__(self, files, hosts, cpus):
        self.folder = files.folder
        self.hosts = hosts
        self.conf = files.write("slurm.conf", configuration(files.folder, hosts, cpus))
        files.write("cgroup.conf", "CgroupPlugin=cgroup/v1\nCgroupAutomount=no\n")
        for name in ("state", "log", *(f"spool/{h.name}" for h in hosts)):
            os.makedirs(os.path.join(files.folder, name))

    def start(self):
        """Starts munged, the controller and a node on each host, and waits up to 30 s until all nodes are idle. @raises Failed"""
        self._munge()
        self._daemon(self.hosts[0], "slurmctld", ["slurmctld", "-c", "-f", self.conf])
        for h in self.hosts:
            self._daemon(h, f"slurmd.{h.name}", ["slurmd", "-N", h.name, "-f", self.conf])
        for _ in range(300):
            if self.call("sinfo", "-h", "-o", "%D %T").stdout.split() == [str(len(self.hosts)), "idle"]:
                return
            time.sleep(0.1)
        raise Failed(f"nodes do not become idle: {self._end_of_log('slurmctld')}")

    def call(self, *words):
        """Runs a program of Slurm, as sinfo, on the first emulated host. @return the process that has ended, with its output"""
        return subprocess.run([*ns.entering(self.hosts[0].pid), *words], env={**os.environ, "SLURM_CONF": self.conf},
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)

    def _munge(self):
        """Starts munged, which authenticates users of Slurm by a key that all hosts share. It needs its own user and folders."""
        user = pwd.getpwnam("munge")
        folder = os.path.join(self.folder, "munge")
        os.makedirs(folder)
        key = os.path.join(folder, "key")
        with open(key, "wb", opener=lambda path, flags: os.open(path, flags, 0o400)) as file:
            file.write(secrets.token_bytes(1024))
        for path in (folder, key):
            os.chown(path, user.pw_uid, user.pw_gid)
        os.chmod(folder, 0o711)  # who may ask it must be able to reach its socket
        got = subprocess.run(
            ["setpriv", "--reuid=munge", "--regid=munge", "--clear-groups", "munged", "--force", f"--key-file={key}",
             f"--socket={folder}/socket", f"--pid-file={folder}/pid", f"--log-file={folder}/log", f"--seed-file={folder}/seed"],
            stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        if got.returncode != 0:
            raise Failed(f"munged: {(got.stderr.strip().splitlines() or ['no message'])[-1]}")

    def _daemon(self, host, log, words):
        """Starts a daemon of Slurm on an emulated host. @raises Failed with its message or the last line of its log"""
        got = subprocess.run([*ns.entering(host.pid, host.number > 0), *words], stdin=subprocess.DEVNULL,
                             capture_output=True, text=True, check=False)
        if got.returncode != 0:
            raise Failed(f"{words[0]}: {(got.stderr.strip().splitlines() or [self._end_of_log(log)])[-1]}")

    def _end_of_log(self, name):
        """Returns the last line of a Slurm daemon's log file."""
        try:
            with open(os.path.join(self.folder, "log", name)) as file:
                return file.read().strip().splitlines()[-1]
        except (OSError, IndexError):
            return "no message"


def missing():
    """Returns the first program of Slurm or munge that is not installed; empty if none is missing."""
    for program in PROGRAMS:
        if not any(os.access(os.path.join(f, program), os.X_OK) for f in (*os.environ["PATH"].split(":"), "/usr/sbin")):
            return program
    return ""


def say(text):
    print(f"slurm: {text}", file=sys.stderr, flush=True)
