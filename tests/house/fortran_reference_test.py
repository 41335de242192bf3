"""The page of the Fortran module has what a program can use, and what lacks a comment is named. Needs FORD: ./x docs runs it."""
import sys
import tempfile
import unittest
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(SOURCE / "tools"), str(SOURCE / "tools" / "website")]
import fortran_reference  # noqa: E402

MAIN = """!> Counts. Details: docs/embed.md.
module merganser
  use merganser_count, only: mg_count, mg_few, mg_many, mg_numbers, mg_allowed, &
       mg_text
end module merganser
"""
RECORDS = """module merganser_c
  !> Numbers of a step.
  type, bind(c) :: c_numbers
     integer :: before = 0, after = 0
  end type c_numbers
end module merganser_c
"""
COUNT = """!> Counting. Programs use the module
!! merganser.
module merganser_count
  use, intrinsic :: iso_c_binding, only: c_double
  use merganser_c, mg_numbers => c_numbers
  private
  public :: mg_count, mg_numbers, mg_text
  !> How many.
  integer, parameter, public :: mg_few = 1, mg_many = 2

  !> A count.
  type :: mg_count
     integer :: n = 0, more = 0  !! how many; and more
     real(c_double) :: mean(3) = 0
   contains
     procedure, private :: add_one
     procedure, private :: add_all
     generic :: add => add_one, add_all
#ifdef MERGANSER_MPI_F08
     procedure, private :: hidden
     generic :: add => hidden
#endif
     procedure :: record => count_record  !! for modules of the library only
     final :: count_final
  end type mg_count

  abstract interface
     !> Whether it may be.
     function mg_allowed(place) result(answer)
       integer, intent(in) :: place(:)
       logical :: answer
     end function mg_allowed
  end interface
contains
  !> Adds one.
  subroutine add_one(this, more, stat)
    class(mg_count), intent(inout) :: this
    integer, intent(in) :: more
    integer, intent(out), optional :: stat
    character(len=:), allocatable :: more_text
    allocate (character(len=more) :: more_text)
  end subroutine add_one
  !> Adds all,
  !! one by one.
  subroutine add_all(this, more)
    class(mg_count), intent(inout) :: this
    integer, intent(in), contiguous :: more(:)
  end subroutine add_all
  !> Adds a hidden one.
  subroutine hidden(this)
    class(mg_count), intent(inout) :: this
  end subroutine hidden
  integer function count_record(this)
    class(mg_count), intent(in) :: this
  end function count_record
  !> Writes a number.
  function mg_text(number) result(text)
    integer, intent(in) :: number
    character(len=:), allocatable :: text
  end function mg_text
end module merganser_count
"""
PAGE = """# Fortran module

Counts. Details: [docs/embed.md](../docs/embed.md).

## merganser_count

Counting.

How many.

```fortran
integer, parameter :: mg_few = 1, mg_many = 2
```

### mg_count

A count.

```fortran
integer :: n = 0, more = 0  ! how many; and more
real(kind=c_double) :: mean(3) = 0
```

#### mg_count % add

Adds one.

```fortran
subroutine add(this, more, stat)
  integer, intent(in) :: more
  integer, intent(out), optional :: stat
```

Adds all,
one by one.

```fortran
subroutine add(this, more)
  integer, contiguous, intent(in) :: more(:)
```

Adds a hidden one.

```fortran
subroutine add(this)
```

### mg_numbers

Numbers of a step.

```fortran
integer :: before = 0, after = 0
```

### mg_allowed

Whether it may be.

```fortran
function mg_allowed(place) result(answer)
  integer, intent(in) :: place(:)
  logical :: answer
```

### mg_text

Writes a number.

```fortran
function mg_text(number) result(text)
  integer, intent(in) :: number
  character(len=:), allocatable :: text
```
"""


class FortranReference(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        (self.root / "fortran").mkdir()
        self.write(merganser=MAIN, merganser_c=RECORDS, merganser_count=COUNT)

    def write(self, **modules):
        """Writes modules, which are read anew."""
        for name, text in modules.items():
            (self.root / "fortran" / f"{name}.f90").write_text(text)
        fortran_reference.read.cache_clear()

    def test_page_has_all_that_programs_get_and_nothing_else(self):
        self.maxDiff = None
        self.assertEqual(fortran_reference.page(self.root), PAGE)
        self.assertEqual(list(fortran_reference.undescribed(self.root)), [])

    def test_what_has_no_comment_is_named(self):
        for without, name, module in (("  !> Adds a hidden one.\n", "mg_count % add", "merganser_count"),
                                      ("  !> A count.\n", "mg_count", "merganser_count"),
                                      ("  !> How many.\n", "mg_few", "merganser_count"),
                                      ("     !> Whether it may be.\n", "mg_allowed", "merganser_count"),
                                      ("  !> Writes a number.\n", "mg_text", "merganser_count"),
                                      ("  !> Numbers of a step.\n", "mg_numbers", "merganser_c")):
            self.write(merganser_count=COUNT.replace(without, ""), merganser_c=RECORDS.replace(without, ""))
            wrong = list(fortran_reference.undescribed(self.root))
            self.assertIn(f"fortran/{module}.f90: {name} has no description", wrong)
            self.assertEqual(len(wrong), 2 if name == "mg_few" else 1)

    def test_names_of_the_library_are_those_of_its_public_statements(self):
        names = {name for of_module in fortran_reference.used(fortran_reference.read(SOURCE / "fortran")["merganser"]).values()
                 for name in of_module}
        page = fortran_reference.page(SOURCE)
        self.assertGreater(len(names), 20)
        self.assertEqual([name for name in sorted(names) if f"### {name}\n" not in page and f" {name} = " not in page], [])


if __name__ == "__main__":
    unittest.main(warnings="ignore")  # FORD leaves files open
