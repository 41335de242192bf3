#!/usr/bin/env python3
"""Jobs in a Slurm of their own: python3 tests/hosts/slurm_test.py --build FOLDER [NAME...]. Ends with 77, saying why, where
Slurm is not installed or the system allows no namespaces."""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
NOT_ALLOWED = 77
LONG = 200 * int(os.environ.get("MERGANSER_TEST_PATIENCE", "1"))  # seconds
build = "build"


def environment():
    kept = {n: os.environ[n] for n in ("PATH", "HOME", "LD_LIBRARY_PATH", "TMPDIR") if n in os.environ}
    return {**kept, "PYTHONPATH": os.path.join(ROOT, "tools"), "PYTHONDONTWRITEBYTECODE": "1"}


def slurm(*words):
    return subprocess.run([sys.executable, "-m", "slurm", "--build", build, *words], env=environment(), capture_output=True,
                          stdin=subprocess.DEVNULL, text=True, timeout=LONG, check=False)


def merganser(*words):
    return subprocess.run([os.path.join(build, "bin", "merganser"), *words], env=environment(), capture_output=True,
                          text=True, timeout=LONG, check=True).stdout


def has_parcel_files():
    """False of a build without NetCDF; any other refusal is a failure."""
    with tempfile.TemporaryDirectory() as folder:
        tried = subprocess.run([os.path.join(build, "bin", "merganser"), "gen", "random", "--cells", "3,3,3", "-o",
                                os.path.join(folder, "in.nc")], env=environment(), capture_output=True, text=True,
                               timeout=LONG, check=False)
    if tried.returncode != 0 and "this build has no NetCDF" not in tried.stderr:
        raise RuntimeError(tried.stderr)
    return tried.returncode == 0


def digest(text):
    return text.split("digest ")[1].split()[0]


class Slurm(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="slurm-test-", dir=build)  # all nodes see it
        cls.parcels = os.path.join(cls.folder, "in.nc")
        merganser("gen", "random", "--cells", "12,12,12", "--per-cell", "10", "-o", cls.parcels)
        cls.expected = digest(merganser("cluster", cls.parcels))
        doctor = json.loads(merganser("doctor", "--json", "-"))
        cls.models = [m for m in doctor["models"] if m != "threads"]
        cls.open_mpi = "Open MPI" in doctor["mpi"] + doctor["openshmem"]

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    def merged(self, run):
        self.assertEqual(run.returncode, 0, run)
        self.assertEqual(digest(run.stdout), self.expected)

    def test_srun_starts_ranks_of_every_model(self):
        for model in self.models:
            self.merged(slurm("--", "cluster", self.parcels, "--comm", model))

    def test_run_in_a_batch_job_asks_srun_for_the_plugin_that_the_library_needs(self):
        run = slurm("--batch", "--", "cluster", self.parcels, "--comm", self.models[0])
        self.merged(run)
        self.assertIn("srun -n 4 --mpi=" + ("pmix" if self.open_mpi else "pmi2"), run.stdout)

    def test_verify_in_an_allocation_of_two_nodes_lets_ranks_of_both_read_its_plan(self):
        run = slurm("--nodes", "2", "--batch", "--", "verify", "--ranks", "2", "--comm", self.models[0], "--samples", "1")
        self.assertEqual(run.returncode, 0, run)
        self.assertIn("all equal to the serial reference", run.stdout)

    def test_doctor_tells_which_launcher_works_in_an_allocation(self):
        run = slurm("--batch", "--", "doctor", "--json", "-")
        self.assertEqual(run.returncode, 0, run)
        launcher = json.loads(run.stdout)["launcher"]
        self.assertTrue(launcher["path"].endswith("/srun"), launcher)
        self.assertEqual(launcher["options"], ["--mpi=pmix" if self.open_mpi else "--mpi=pmi2"])
        self.assertEqual(launcher["problem"], "")

    def test_ranks_that_do_not_know_of_each_other_are_refused_not_run_four_times(self):
        run = slurm("--mpi", "none", "--", "cluster", self.parcels)
        self.assertIn(run.returncode, (4, 143), run)  # srun's is the greatest, and it stops those that are slower to refuse
        self.assertIn("without a plug-in for MPI", run.stderr)
        self.assertNotIn("digest", run.stdout)

    def test_a_file_where_each_node_has_a_folder_of_its_own_is_refused(self):
        run = slurm("--", "cluster", "/dev/shm/merganser-no-such-folder/in.nc")
        self.assertEqual(run.returncode, 2, run)
        self.assertIn("in.nc lies where each host has a folder of its own; allowed:", run.stderr)

    def test_a_rank_that_is_killed_ends_the_others_and_the_exit_code_tells(self):
        program = os.path.join(build, "bin", "merganser")
        run = slurm("--exec", "--", "salloc", "--quiet", "-n", "3", "sh", "-c", f"""
            {program} run -n 3 -- cluster {self.parcels} --steps 100000000 --comm {self.models[0]} & run=$!
            for i in $(seq 300); do
              [ "$(grep -lsaE 'PMIX?_RANK=' /proc/[0-9]*/environ | wc -l)" = 3 ] && break
              sleep 0.1
            done
            sleep 2
            for p in $(grep -lsaE 'PMIX?_RANK=2' /proc/[0-9]*/environ); do kill -9 $(basename $(dirname $p)); done
            wait $run""")
        self.assertEqual(run.returncode, 137, run)
        told = [line for line in run.stderr.splitlines() if line.startswith("communication: ")]
        self.assertEqual(len(told), 1, run.stderr)
        self.assertRegex(told[0], "signal 9|rank 2 ended without a word")

    def test_a_job_that_is_cancelled_leaves_the_old_output_and_no_temporary_file(self):
        out = os.path.join(self.folder, "kept", "out.nc")
        os.mkdir(os.path.dirname(out))
        merganser("gen", "random", "--cells", "3,3,3", "-o", out)
        with open(out, "rb") as file:
            old = file.read()
        program = os.path.join(build, "bin", "merganser")
        script = os.path.join(self.folder, "job.sh")
        with open(script, "w") as file:
            file.write(f"#!/bin/sh\nexec {program} run -n 4 -- cluster {self.parcels} -o {out} --steps 100000000 "
                       f"--comm {self.models[0]}\n")
        os.chmod(script, 0o755)
        # Cancelled when the ranks are at work, not before they were started.
        run = slurm("--exec", "--", "sh", "-c", f"""
            job=$(sbatch --parsable -n 4 -o {self.folder}/log {script}) || exit 1
            for i in $(seq 300); do
              [ "$(grep -lsaE 'PMIX?_RANK=' /proc/[0-9]*/environ | wc -l)" = 4 ] && break
              sleep 0.1
            done
            scancel "$job"
            for i in $(seq 300); do [ -z "$(squeue -h -j "$job")" ] && exit 0; sleep 0.1; done
            exit 2""")
        self.assertEqual(run.returncode, 0, run)
        with open(out, "rb") as file:
            self.assertEqual(file.read(), old)
        self.assertEqual(os.listdir(os.path.dirname(out)), ["out.nc"])


def main():
    global build
    words = sys.argv[1:]
    if words[:1] == ["--build"]:
        build = os.path.abspath(words[1])
        words = words[2:]
    doctor = json.loads(merganser("doctor", "--json", "-"))
    if doctor["models"] == ["threads"] or not has_parcel_files():
        print("skipped: this build has no model of processes, or reads no parcel files")
        return NOT_ALLOWED
    probe = slurm("--exec", "--", "true")
    if probe.returncode == NOT_ALLOWED:
        print(f"skipped: {probe.stderr.strip()}")
        return NOT_ALLOWED
    program = unittest.main(argv=[sys.argv[0], "-v", *words], exit=False)
    return 0 if program.result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
