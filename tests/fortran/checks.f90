!> What tests in Fortran check with: a program ends with 1 if a check failed on any rank.
module checks
  use, intrinsic :: iso_fortran_env, only: error_unit
  use mpi_f08
  implicit none
  private
  public :: check, check_text, finish

  integer, save :: failed = 0

contains

  subroutine check(right, what)
    logical, intent(in) :: right
    character(len=*), intent(in) :: what
    if (right) return
    failed = failed + 1
    write (error_unit, '(2a)') 'failed: ', what
  end subroutine check

  subroutine check_text(found, expected)
    character(len=*), intent(in) :: found, expected
    call check(index(found, expected) == 1, 'found "'//trim(found)//'", expected "'//expected//'"')
  end subroutine check_text

  !> Ends MPI and the program.
  subroutine finish()
    integer :: all
    call MPI_Allreduce(failed, all, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
    call MPI_Finalize()
    if (all > 0) error stop 1
  end subroutine finish
end module checks
