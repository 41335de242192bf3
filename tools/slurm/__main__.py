"""./x slurm [--nodes N] -- COMMAND"""
import argparse
import json
import os
import subprocess
import sys

from hosts import sets, settings

from . import cluster

TEXT = """\
Starts Slurm (munged, slurmctld, slurmd) on emulated hosts on this machine, without systemd, runs COMMAND in it and ends
it. All it keeps, its configuration and key too, lies in memory and is gone in the end, however this ends.

  ./x slurm -- cluster in.nc -o out.nc                  srun -n 4 merganser cluster ...
  ./x slurm --batch -- cluster in.nc -o out.nc          sbatch of a script with: merganser run -n 4 -- cluster ...
  ./x slurm --batch -- verify --ranks 2,4 --comm all    verbs that start ranks themselves, in an allocation of 4
  ./x slurm --nodes 2 --ranks 8 -- cluster in.nc        over two nodes
  ./x slurm --exec -- bash                              any program, where srun, sbatch, squeue and scancel work

The exit code is that of COMMAND; 77 where the system allows no namespaces or Slurm is not installed, 2 for a wrong option."""
STARTS_ITSELF = ("run", "verify", "doctor")


def parse(words):
    """Parses the options of ./x slurm and the command line behind --; ends the program with code 2 for a wrong one."""
    p = argparse.ArgumentParser(prog="./x slurm", description=TEXT, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.usage = "./x slurm [options] -- COMMAND"
    p.add_argument("--nodes", type=int, default=1, metavar="N", help="how many nodes, 1 to 16 [1]")
    p.add_argument("--ranks", type=int, default=4, metavar="N", help="tasks [4]")
    p.add_argument("--batch", action="store_true", help="by sbatch and merganser run instead of srun")
    p.add_argument("--mpi", metavar="TYPE", help="plug-in of srun [what the library needs: pmix or pmi2]")
    p.add_argument("--exec", action="store_true", help="COMMAND is a program, run where jobs are submitted")
    p.add_argument("--build", default="build", metavar="FOLDER", help="where bin/merganser is [%(default)s]")
    at = words.index("--") if "--" in words else len(words)
    o = p.parse_args(words[:at])
    o.command = words[at + 1:]
    if not 1 <= o.nodes <= 16:
        p.error(f"--nodes: {o.nodes}; allowed: 1 to 16")
    if not o.nodes <= o.ranks <= 1024:
        p.error(f"--ranks: {o.ranks}; allowed: {o.nodes} to 1024, one for each node at least")
    if not o.command:
        p.error("no COMMAND; allowed: -- and a command line of merganser, as -- cluster in.nc")
    if not o.exec and (path := sets.not_shared(o.command, o.build)):
        p.error(f"{path} lies where each host has a folder of its own; allowed: files in folders that all see, as {os.getcwd()}")
    return o


def plugin(program):
    """Returns the plug-in of srun (--mpi=...) that starts ranks of the MPI that this merganser program is linked with."""
    got = subprocess.run([program, "doctor", "--json", "-"], capture_output=True, text=True, check=True)
    libraries = json.loads(got.stdout)
    return "pmix" if "Open MPI" in libraries["mpi"] + libraries["openshmem"] else "pmi2"


def command_line(o, folder):
    """Returns the command line by which ./x slurm runs COMMAND on the first node, by srun, sbatch or as it is.

    @param folder  for the file with that output
    """
    program = os.path.realpath(os.path.join(o.build, "bin", "merganser"))
    size = ["-n", str(o.ranks), "-N", str(o.nodes)]
    if o.exec:
        return o.command
    if not o.batch:
        return ["srun", *size, f"--mpi={o.mpi or plugin(program)}", "--kill-on-bad-exit", program, *o.command]
    own = o.command[0] in STARTS_ITSELF or o.command[:2] == ["topo", "bench"]
    words = [program, *([] if own else ["run", "-n", str(o.ranks), "--"]), *o.command]
    # The job writes its standard output to a file, which is read here while it grows, to its end.
    return ["sh", "-c", 'log=$1; shift; : >"$log"; tail -n +1 -f "$log" & reader=$!; '
            'sbatch --quiet --wait -o "$log" "$@"; code=$?; sleep 0.2; kill $reader; exit $code',
            "sh", os.path.join(folder, "batch.log"), *size,
            os.path.join(os.path.dirname(os.path.abspath(__file__)), "batch.sh"), *words]


def body(o):
    """Returns the function that starts Slurm on a set of emulated hosts, runs the command in it and returns its exit code."""
    def run(hosts):
        cpus = -(-o.ranks // o.nodes)
        slurm = cluster.Slurm(hosts.files, hosts.hosts, cpus)
        try:
            slurm.start()
        except cluster.Failed as e:
            cluster.say(str(e))
            return 1
        talk = {n: v for n, v in settings.TALK.items() if o.nodes > 1 and n.startswith(("OMPI_MCA_btl", "OMPI_MCA_pml", "UCX_"))}
        environment = {**talk, **os.environ, "SLURM_CONF": slurm.conf, "PATH": os.environ["PATH"] + ":/usr/sbin"}
        if o.mpi:
            environment["SLURM_MPI_TYPE"] = o.mpi
        return hosts.run(command_line(o, hosts.files.folder), environment)
    return run


def main(words):
    o = parse(words)
    lacking = cluster.missing()
    if lacking:
        print(f"slurm: there is no program {lacking}; Debian's packages slurm-wlm and munge have it", file=sys.stderr)
        return sets.NOT_ALLOWED
    if os.geteuid() != 0:
        print("slurm: munged and slurmd are users of their own; allowed: as root", file=sys.stderr)
        return sets.NOT_ALLOWED
    if not o.exec and not os.access(os.path.join(o.build, "bin", "merganser"), os.X_OK):
        print(f"slurm: {o.build}/bin/merganser is no program; ./x build makes it", file=sys.stderr)
        return 2
    return sets.start("slurm", o.build, body(o), o.nodes)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
