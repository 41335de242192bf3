"""Counting of calls and lines by productivity.py, which must not count comments, strings or declarations."""
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
import productivity  # noqa: E402

REPOSITORY = Path(__file__).resolve().parents[4]

MESSAGES = """// MPI_Send(in a comment)
#include <mpi.h>

void talk(MPI_Comm comm) {
  check(MPI_Isend(data, 1, MPI_INT, 0, 0, comm, &request), "MPI_Isend(");  /* MPI_Irecv( */
  check(MPI_Wait(&request, nullptr));
  MPI_Ibarrier(comm, &request);
  MPI_Get_count(&status, MPI_INT, &count);
  MPI_Win_allocate(1, 1, info, comm, &base, &win);
  MPI_Put(data, 1, MPI_INT, 0, 0, 1, MPI_INT, win);
  MPI_Comm_free(&comm);
  MPI_Finalize();
}
"""
SHMEM = """void talk() {
  void* at = shmem_malloc(8);
  shmem_putmem(at, at, 8, 1);
  shmem_quiet();
  shmem_barrier_all();
  shmem_my_pe();
  shmem_finalize();
}
"""
ALGORITHM = """void run(Mailbox& box) {
  box.post(0, 1);
  box.step();
  segment_.get(1, 2, 3, to);
  pointer.get();
  const auto n = t.all_reduce(1, Op::sum);
}
"""


class Productivity(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.root = Path(self.folder.name)
        self.write("src/comm/backends/two.cpp", MESSAGES)
        self.write("src/comm/backends/shmem.cpp", "int a;\n\n// nothing\n")
        self.write("src/comm/backends/openshmem/library.cpp", SHMEM)
        self.write("packages/graph/src/mnd/component_updates.cpp", ALGORITHM)

    def write(self, name, text):
        """Writes a source file into the folder that stands for the source tree."""
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def model(self, name):
        """Returns the counts of the communication model of this name in the folder."""
        return next(m for m in productivity.count_models(self.root) if m["model"] == name)

    def test_calls_are_counted_by_kind_and_those_that_begin_end_or_allocate_are_not(self):
        two = self.model("two")
        self.assertEqual(two["calls"], {"total": 5, "messages": 2, "one_sided": 1, "collective": 1, "other": 1})
        self.assertEqual(two["names"]["MPI_Isend"], 1)
        self.assertEqual(two["lines"], 11)

    def test_a_folder_counts_for_its_model(self):
        shmem = self.model("shmem")
        self.assertEqual(shmem["files"], 2)
        self.assertEqual(shmem["lines"], 9)
        self.assertEqual(shmem["calls"], {"total": 4, "messages": 0, "one_sided": 2, "collective": 1, "other": 1})

    def test_calls_of_the_contract_are_counted_in_the_algorithm(self):
        self.assertEqual(productivity.count_algorithm(self.root), [{"part": "packages/graph/src/mnd/component_updates.cpp", "lines": 7, "calls": 4}])

    @unittest.skipUnless((REPOSITORY / "src/comm").is_dir(), "a package built alone: the sources of the core are not beside it")
    def test_this_repository_has_calls_in_every_model_of_processes(self):
        models = {m["model"]: m for m in productivity.count_models(REPOSITORY)}
        for name in ["neighborhood", "rma", "shmem", "shared by p2p, neighborhood, rma"]:
            self.assertGreater(models[name]["calls"]["total"], 5, name)
        self.assertEqual(models["threads"]["calls"]["total"], 0)


if __name__ == "__main__":
    unittest.main()
