!> Adapter between EPIC's arrays and lists and merganser's star finder: subroutines with the interfaces of EPIC's own.
!! docs/epic.md lists the lines of the published clustering code that change.
!!
!!     call epic_open(cart%comm, lower, extent, [nx, ny, nz])     ! once, after the layout is made; collective
!!     call epic_find_nearest(n, vmin, position, volume, buoyancy, vorticity, b, isma, iclo, inva, n_merge, n_invalid)
!!     ... the code's own merging into iclo(1:n_merge), and deleting of inva(1:n_merge + n_invalid) ...
!!
!! or, if the library also merges and deletes:
!!
!!     call epic_merge(n, vmin, position, volume, buoyancy, vorticity, b)
!!
!! The library's types are private to the submodule. There is one decomposition at a time. Errors end the job with a text, as
!! errors of EPIC do.
module epic_shim
  use, intrinsic :: iso_c_binding, only: c_double, c_int32_t, c_int64_t
  use mpi_f08, only: MPI_Comm
  implicit none
  private
  public :: epic_open, epic_find_nearest, epic_append, epic_merge, epic_close

  interface
     !> Opens the library over a 2D Cartesian communicator of EPIC's: cells in x and y are assigned in blocks, the first ranks of
     !! an axis receive one more if the numbers are not divisible; z is not cut. x and y are periodic, z has walls. Collective.
     module subroutine epic_open(communicator, lower, extent, cells)
       type(MPI_Comm), intent(in) :: communicator
       real(c_double), intent(in) :: lower(3), extent(3)
       integer, intent(in) :: cells(3)
     end subroutine epic_open

     !> Replaces EPIC's find_nearest: links parcels with a volume below vmin to the nearest other parcel, and prunes the links to
     !! stars. Called by every rank; communicates with neighbours only.
     !! @param n        in: parcels of this rank; out: received ones included, which follow. The arrays must be long enough
     !! @param isma     (0:n_merge) slots that merge; entry 0 is not used
     !! @param iclo     (n_merge) the slot of this rank that each merges into
     !! @param inva     (0:n_merge + n_invalid) ascending: slots to be deleted, those of parcels sent to other ranks included
     !! @param n_merge  length of iclo; n_invalid: number of parcels sent to other ranks
     !! @param ids      (n) distinct over all ranks: results then do not depend on the decomposition. They are migrated too
     module subroutine epic_find_nearest(n, vmin, position, volume, buoyancy, vorticity, b, isma, iclo, inva, n_merge, &
          n_invalid, ids)
       integer, intent(inout) :: n
       real(c_double), intent(in) :: vmin
       real(c_double), intent(inout), target, contiguous :: position(:, :), volume(:), buoyancy(:), vorticity(:, :), b(:, :)
       integer, allocatable, intent(out) :: isma(:), iclo(:), inva(:)
       integer, intent(out) :: n_merge, n_invalid
       integer(c_int64_t), intent(inout), target, contiguous, optional :: ids(:)
     end subroutine epic_find_nearest

     !> Replaces EPIC's merging as a whole: merges small parcels into their centres by EPIC's rules; n becomes the number left.
     !! Called by every rank; communicates with neighbours only. Merged parcels may then lie in another rank's block, as in EPIC.
     module subroutine epic_merge(n, vmin, position, volume, buoyancy, vorticity, b, ids)
       integer, intent(inout) :: n
       real(c_double), intent(in) :: vmin
       real(c_double), intent(inout), target, contiguous :: position(:, :), volume(:), buoyancy(:), vorticity(:, :), b(:, :)
       integer(c_int64_t), intent(inout), target, contiguous :: ids(:)
     end subroutine epic_merge

     !> Frees all objects that epic_open created. Collective.
     module subroutine epic_close()
     end subroutine epic_close
  end interface

  !> Migrates a further array of the parcels (humidity, labels): entries of received parcels are stored at n + 1, ... Called by
  !! every rank, after epic_find_nearest.
  interface epic_append
     module subroutine append_one(values)
       real(c_double), intent(inout), target, contiguous :: values(:)
     end subroutine append_one
     module subroutine append_several(values)
       real(c_double), intent(inout), target, contiguous :: values(:, :)
     end subroutine append_several
     module subroutine append_integer(values)
       integer(c_int32_t), intent(inout), target, contiguous :: values(:)
     end subroutine append_integer
  end interface epic_append
end module epic_shim

submodule (epic_shim) epic_shim_finder
  use, intrinsic :: iso_c_binding, only: c_bool
  use mpi_f08, only: MPI_Cart_get
  use merganser
  implicit none

  type(mg_transport), save :: transport
  type(mg_decomposition), save :: blocks
  type(mg_finder), save :: finder
  type(mg_schema), save :: schema
  type(mg_box), save :: box
  real(c_double), save :: lower_face(3), upper_face(3)
  logical(c_bool), allocatable, save :: small(:)

contains

  module procedure epic_open
    integer :: ranks_of(2), coordinates(2), axis
    logical :: periods(2)
    call MPI_Cart_get(communicator, 2, ranks_of, periods, coordinates)
    box = mg_box(lower=lower, extent=extent, periodic=[.true., .true., .false.])
    lower_face = lower
    upper_face = lower + extent
    do axis = 1, 2
       lower_face(axis) = face(axis, coordinates(axis))
       upper_face(axis) = face(axis, coordinates(axis) + 1)
    end do
    call transport%open(communicator)
    call blocks%of_ranks(transport, box, lower_face, upper_face)
    call finder%make(transport, blocks)
    call schema%epic()

  contains

     !> Returns the lower face of the block with this coordinate, computed alike, bit by bit, on both ranks that share it.
    pure function face(axis, coordinate) result(x)
      integer, intent(in) :: axis, coordinate
      real(c_double) :: x
      integer :: first
      first = coordinate * (cells(axis) / ranks_of(axis)) + min(coordinate, mod(cells(axis), ranks_of(axis)))
      x = lower(axis) + extent(axis) / real(cells(axis), c_double) * real(first, c_double)
      if (first == cells(axis)) x = lower(axis) + extent(axis)
    end function face
  end procedure epic_open

  module procedure epic_find_nearest
    integer(c_int32_t), allocatable :: sources(:), centres(:), holes(:)
    call find(n, vmin, position, volume, ids)
    call finder%append(position)
    call finder%append(volume)
    call finder%append(buoyancy)
    call finder%append(vorticity)
    call finder%append(b)
    if (present(ids)) call finder%append(ids)
    call finder%lists(sources, centres, holes)
    n_merge = size(sources)
    n_invalid = size(holes) - n_merge
    n = n + finder%receive_count()
    allocate (isma(0:n_merge), iclo(n_merge), inva(0:n_merge + n_invalid))
    isma(0) = -1
    inva(0) = -1
    isma(1:) = sources
    iclo(:) = centres
    inva(1:) = holes
  end procedure epic_find_nearest

  module procedure epic_merge
    type(mg_columns), target :: columns
    integer :: left
    call find(n, vmin, position, volume, ids)
    call columns%positions(position)
    call columns%volumes(volume)
    call columns%identities(ids)
    call columns%attribute(vorticity)
    call columns%attribute(buoyancy)
    call columns%attribute(b)
    call finder%merge(schema, columns, left)
    n = left
  end procedure epic_merge

  module procedure epic_close
    call finder%free()
    call schema%free()
    call blocks%free()
    call transport%close()
  end procedure epic_close

  !> Finds the stars of this rank's first n parcels. Called by every rank.
  subroutine find(n, vmin, position, volume, ids)
    integer, intent(in) :: n
    real(c_double), intent(in) :: vmin
    real(c_double), intent(inout), target, contiguous :: position(:, :)
    real(c_double), intent(in) :: volume(:)
    integer(c_int64_t), intent(in), target, contiguous, optional :: ids(:)
    if (allocated(small)) then
       if (size(small) < n) deallocate (small)
    end if
    if (.not. allocated(small)) allocate (small(n + n / 4))
    small(1:n) = volume(1:n) < vmin
    call put_on_faces(position(:, 1:n))
    if (present(ids)) then
       call finder%find(position(:, 1:n), small(1:n), ids(1:n))
    else
       call finder%find(position(:, 1:n), small(1:n))
    end if
  end subroutine find

  !> Moves parcels that lie outside of the block by rounding onto its face: EPIC determines owners by the number of the cell, the
  !! library by comparison with faces. Parcels farther outside are an error of the finder, which names them.
  subroutine put_on_faces(position)
    real(c_double), intent(inout) :: position(:, :)
    real(c_double) :: slack
    integer :: axis, i
    do axis = 1, 3
       slack = 1.0e-12_c_double * box%extent(axis)
       do i = 1, size(position, 2)
          if (position(axis, i) < lower_face(axis)) then
             if (position(axis, i) >= lower_face(axis) - slack) position(axis, i) = lower_face(axis)
          else if (position(axis, i) > upper_face(axis)) then
             if (position(axis, i) <= upper_face(axis) + slack) position(axis, i) = upper_face(axis)
          end if
       end do
    end do
  end subroutine put_on_faces

  module procedure append_one
    call finder%append(values)
  end procedure append_one

  module procedure append_several
    call finder%append(values)
  end procedure append_several

  module procedure append_integer
    call finder%append(values)
  end procedure append_integer
end submodule epic_shim_finder
