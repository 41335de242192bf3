"""Environment of programs on emulated hosts: host lists, and settings of the libraries' transports."""
import os

# Settings that keep libraries to the network, since all hosts share this machine's memory, and its cores to all ranks.
TALK = {
    "OMPI_MCA_pml": "ob1",
    "OMPI_MCA_btl": "tcp,self",
    "OMPI_MCA_btl_tcp_if_include": "eth0",
    "OMPI_MCA_oob_tcp_if_include": "eth0",
    "OMPI_MCA_hwloc_base_binding_policy": "none",
    "OMPI_MCA_rmaps_base_mapping_policy": "node",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMPI_MCA_plm_rsh_no_tree_spawn": "1",
    "UCX_TLS": "tcp,self",
    "UCX_NET_DEVICES": "eth0",
    "HYDRA_LAUNCHER": "ssh",
    "HYDRA_IFACE": "eth0",
    "FI_PROVIDER": "tcp",
}
# Environment of a program started on another host, as from a file that every login reads.
LOGIN = ("PATH", "HOME", "LD_LIBRARY_PATH", "LANG", "LC_ALL", "TMPDIR", "ASAN_OPTIONS", "TSAN_OPTIONS")
# Variables that the remote shell passes on, as ssh does with SendEnv: launchers pass on their own variables only.
TAKEN_ALONG = ("MERGANSER_COMM", "MERGANSER_TEST_MODELS", "MERGANSER_TEST_RANKS", "MERGANSER_WAIT_LIMIT",
               "SHMEM_SYMMETRIC_HEAP_SIZE", "UCX_DEBUG_SIGNO")


def for_command(environment, remote, hostfile, wait_limit_s):
    """Returns the environment of the command on the first host. Variables that the user has set are kept."""
    out = dict(environment)
    for name, value in TALK.items():
        out.setdefault(name, value)
    out["OMPI_MCA_plm_rsh_agent"] = remote
    out["OMPI_MCA_orte_default_hostfile"] = hostfile
    out["HYDRA_LAUNCHER_EXEC"] = remote
    out["HYDRA_HOST_FILE"] = hostfile
    out.setdefault("MERGANSER_WAIT_LIMIT", f"{wait_limit_s:g}")
    if os.geteuid() == 0:
        out.setdefault("OMPI_ALLOW_RUN_AS_ROOT", "1")
        out.setdefault("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
    return out


def for_login(environment):
    """Returns the environment of a program started on another host: bare, as ssh gives it."""
    out = {name: environment[name] for name in LOGIN if name in environment}
    out.update({name: value for name, value in TALK.items() if name.startswith(("UCX_", "FI_"))})
    if os.geteuid() == 0:
        out.update({"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"})
    return out
