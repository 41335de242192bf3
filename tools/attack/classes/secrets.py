"""Attacks by variables and arguments that look like secrets: none may appear in a record, a file or a message."""
import os

from .. import shapes
from ..attack import Attack
from ..case import Case, Finding, Part

WORDS = ("password", "Passwd", "TOKEN", "api_key", "Cookie", "secret", "CREDENTIALS", "Auth", "jwt", "pw", "Key")
PREFIXES = ("OMPI_MCA_x_", "OMPI_MCA_btl_", "PMIX_MCA_", "PRTE_MCA_rmaps_", "UCX_TCP_", "FI_TCP_", "SLURM_", "SLURM_JOB_", "MPICH_OFI_",
            "I_MPI_", "HYDRA_", "OMP_", "MERGANSER_", "PBS_", "FLUX_", "SHMEM_", "LSB_", "KMP_")
NAMES = ("NOTE", "site", "extra", "X")  # say nothing of a secret: only what is known to matter may be recorded
RECORDED = ("bench random --cells 3,3,3 --steps 1 --quiet --json >r.json --csv >c.csv", "cluster <in.nc -o >out.nc --json >r.json",
            "doctor --json >d.json", "doctor", "msf <g.txt --json >r.json", "topo gen ring -o >p.bin --json >r.json",
            "topo bench --models threads --ranks 2 --graph chain --sizes 8 --time 0.2 --quiet --json >r.json",
            "topo bench --ranks 2 --graph chain --kernels p2p.isend-irecv --sizes 8 --time 0.2 --quiet --json >r.json",
            "verify --ranks 2 --comm threads --samples 0 <in.nc --json >v.json", "announce demo droplet --steps 2 --json >r.json")
ARGUMENTS = ("cluster {url} -o >out.nc", "cluster <in.nc -o {url}", "msf --points {url}", "cluster --{word}={secret}", "{word}={secret}",
             "topo gen ring --{word} {secret}", "linkage --points {url} --clusters 2", "compare {url} {url}",
             "run --dry-run -n 2 -- topo extract -- prog --{word} {secret} {url}", "run -n 2 -- cluster --{word}={secret}",
             "topo extract -n 2 -o >t.json -- /bin/true --{word}={secret} -H Authorization:{secret} {url}",
             "run --dry-run -n 2 -- cluster {token}", "graph convert {url} >out.mgr", "topo advise {url} --record {url}")


class Secrets(Attack):
    name = "secrets"
    text = "variables and arguments that look like secrets are neither printed nor recorded"

    def make(self, random, world):
        secret = "".join(random.choice("abcdefghijkmnpqrstuvwxyz") + random.choice("23456789") for _ in range(7))
        word = random.choice(WORDS)
        fill = {"secret": secret, "word": word, "url": f"https://me:{secret}@host.invalid/x", "token": f"ghp_{secret}{secret}"}
        texts = RECORDED if random.random() < 0.5 else ARGUMENTS
        text = random.choice([t for t in texts if shapes.parse(t).verb in world.verbs or t.startswith("{")])
        shape = shapes.parse(text.format(**fill))
        case = shape.case(world, with_old=False) if shape.verb in world.verbs else Case(verb="", parts=[Part(shape.words)])
        for _ in range(random.randint(1, 6)):
            name = random.choice(PREFIXES) + random.choice(NAMES if random.random() < 0.3 else WORDS)
            case.environment[random.choice([name, name, name.upper()])] = random.choice([secret, fill["url"], f"user={secret}"])
        case.data["secret"] = secret.encode()
        case.what = f"secrets in {' '.join(sorted(case.environment))}"
        return case

    def check(self, case, result, folder, world):
        secret = case.data["secret"]
        where = [name for name, text in (("standard output", result.out), ("standard error", result.err)) if secret in text]
        for top, _, files in os.walk(folder.at("work")):
            for name in files:
                with open(os.path.join(top, name), "rb") as file:
                    if secret in file.read():
                        where.append(name)
        return [Finding("secret told", f"a secret stands in {', '.join(where)}")] if where else []


ATTACK = Secrets()
