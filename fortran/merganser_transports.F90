!> Transports, decompositions, and the handling of errors by stat= and errmsg=. Programs use the module merganser.
!!
!! With MERGANSER_MPI_F08 communicators may be of type(MPI_Comm), else they are integers.
module merganser_transports
  use, intrinsic :: iso_c_binding, only: c_associated, c_char, c_double, c_f_pointer, c_int, c_int32_t, c_int64_t, c_loc, &
       c_null_char, c_null_ptr, c_ptr, c_size_t, c_sizeof
  use, intrinsic :: iso_fortran_env, only: error_unit
#ifdef MERGANSER_MPI_F08
  use mpi_f08, only: MPI_Comm
#endif
  use merganser_c
  implicit none
  private
  public :: mg_box, mg_transport, mg_decomposition, mg_version_text, mg_return_status, mg_refuse, mg_length_error, &
       mg_from_c_string, mg_to_c_string, mg_integer_text

  !> Statuses of calls, the values of stat=.
  integer, parameter, public :: mg_ok = 0, mg_verification = 1, mg_usage = 2, mg_input = 3, mg_communication = 4, &
       mg_internal = 70, mg_memory = 71

  integer, parameter :: max_text = 256

  !> Axis-aligned box: lower corner, length along each axis (> 0), and the axes that are periodic.
  type :: mg_box
     real(c_double) :: lower(3) = 0, extent(3) = 1
     logical :: periodic(3) = .false.
  end type mg_box

  !> Transport: one rank's end of a communication model, as MPI's communicator. Must not be copied.
  type :: mg_transport
     type(c_ptr) :: handle = c_null_ptr  !! of the C interface
   contains
     procedure, private :: open_integer
     generic :: open => open_integer
#ifdef MERGANSER_MPI_F08
     procedure, private :: open_f08
     generic :: open => open_f08
#endif
     procedure :: open_alone => transport_open_alone
     procedure :: rank => transport_rank
     procedure :: size => transport_size
     procedure :: name => transport_name
     procedure :: choice => transport_choice
     procedure :: close => transport_close
     final :: transport_final
  end type mg_transport

  !> Decomposition of a box into blocks, one per rank. Must not be copied.
  type :: mg_decomposition
     type(c_ptr) :: handle = c_null_ptr  !! of the C interface
   contains
     procedure :: make => decomposition_make
     procedure :: from_cuts => decomposition_from_cuts
     procedure :: from_boxes => decomposition_from_boxes
     procedure :: of_ranks => decomposition_of_ranks
     procedure, private :: cartesian_integer
     generic :: cartesian => cartesian_integer
#ifdef MERGANSER_MPI_F08
     procedure, private :: cartesian_f08
     generic :: cartesian => cartesian_f08
#endif
     procedure :: block => decomposition_block
     procedure, private :: owners_rows, owners_columns
     generic :: owners => owners_rows, owners_columns
     procedure :: free => decomposition_free
     final :: decomposition_final
  end type mg_decomposition

contains

  !> Returns the status of a call in C through stat= and its text through errmsg=, as statements of the standard do; without
  !! stat= an error prints the text and ends the job.
  subroutine mg_return_status(status, stat, errmsg)
    integer(c_int), intent(in) :: status
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    if (present(stat)) stat = mg_ok
    if (status == mg_ok) return
    call mg_refuse(int(status), mg_from_c_string(mg_error_from(1_c_int)), stat, errmsg)
  end subroutine mg_return_status

  !> Returns an error found before C is called through stat= and errmsg=; without stat= it prints the text and ends the job.
  subroutine mg_refuse(status, text, stat, errmsg)
    integer, intent(in) :: status
    character(len=*), intent(in) :: text
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    if (present(stat)) stat = status
    if (present(errmsg)) errmsg = text
    if (present(stat)) return
    write (error_unit, '(2a)') 'merganser: ', text
    flush (error_unit)
    call mg_end_job(int(status, c_int))
  end subroutine mg_refuse

  !> Formats the error of an array of the wrong length: "small: 2 entries; allowed: 4, one for each point".
  function mg_length_error(name, entries, allowed) result(text)
    character(len=*), intent(in) :: name, allowed
    integer, intent(in) :: entries
    character(len=:), allocatable :: text
    text = name//': '//mg_integer_text(entries)//' entries; allowed: '//allowed
  end function mg_length_error

  !> Formats an integer without blanks.
  function mg_integer_text(number) result(text)
    integer, intent(in) :: number
    character(len=:), allocatable :: text
    character(len=24) :: room
    write (room, '(i0)') number
    text = trim(room)
  end function mg_integer_text

  !> Copies a string of C, up to its zero; null becomes an empty text.
  function mg_from_c_string(text) result(copy)
    type(c_ptr), intent(in) :: text
    character(len=:), allocatable :: copy
    character(kind=c_char), pointer :: letters(:)
    integer :: length, i
    copy = ''
    if (.not. c_associated(text)) return
    call c_f_pointer(text, letters, [8192])
    length = 0
    do while (letters(length + 1) /= c_null_char)
       length = length + 1
    end do
    deallocate (copy)
    allocate (character(len=length) :: copy)
    do i = 1, length
       copy(i:i) = letters(i)
    end do
  end function mg_from_c_string

  !> Converts a text to a string of C, without trailing blanks.
  function mg_to_c_string(text) result(bytes)
    character(len=*), intent(in) :: text
    character(kind=c_char) :: bytes(len_trim(text) + 1)
    integer :: i
    do i = 1, len_trim(text)
       bytes(i) = text(i:i)
    end do
    bytes(len_trim(text) + 1) = c_null_char
  end function mg_to_c_string

  !> Copies an optional text to a buffer as a string of C. Returns the buffer's address, or null if the text is absent.
  function optional_text(room, text) result(address)
    character(kind=c_char), intent(inout), target :: room(max_text)
    character(len=*), intent(in), optional :: text
    type(c_ptr) :: address
    integer :: i, length
    address = c_null_ptr
    if (.not. present(text)) return
    length = min(len_trim(text), max_text - 1)
    do i = 1, length
       room(i) = text(i:i)
    end do
    room(length + 1) = c_null_char
    address = c_loc(room)
  end function optional_text

  !> Returns the version of the library.
  function mg_version_text() result(text)
    character(len=:), allocatable :: text
    text = mg_from_c_string(mg_version())
  end function mg_version_text

  !> Opens a transport over a communicator, given as the integer of `mpif.h` and the module `mpi`. Collective.
  !! model: "auto", "p2p", "neighborhood", "rma", "shmem"; decorators: "checked", "chaos:SEED".
  subroutine open_integer(this, communicator, model, decorators, stat, errmsg)
    class(mg_transport), intent(inout) :: this
    integer, intent(in) :: communicator
    character(len=*), intent(in), optional :: model, decorators
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(c_open_options) :: options
    character(kind=c_char), target :: model_text(max_text), decorator_text(max_text)
    options%struct_size = c_sizeof(options)
    options%backend = optional_text(model_text, model)
    options%decorators = optional_text(decorator_text, decorators)
    call transport_final(this)
    call mg_return_status(mg_open_fortran(int(communicator, c_int), options, this%handle), stat, errmsg)
  end subroutine open_integer

#ifdef MERGANSER_MPI_F08
  !> Opens a transport over a communicator of type(MPI_Comm) of the module `mpi_f08`. Collective.
  subroutine open_f08(this, communicator, model, decorators, stat, errmsg)
    class(mg_transport), intent(inout) :: this
    type(MPI_Comm), intent(in) :: communicator
    character(len=*), intent(in), optional :: model, decorators
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    call this%open_integer(communicator%mpi_val, model, decorators, stat, errmsg)
  end subroutine open_f08
#endif

  !> Opens a transport of one rank, this process, without MPI. Local.
  subroutine transport_open_alone(this, stat, errmsg)
    class(mg_transport), intent(inout) :: this
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    call transport_final(this)
    call mg_return_status(mg_open_alone(this%handle), stat, errmsg)
  end subroutine transport_open_alone

  !> Returns the number of this rank, from 0 as in MPI; -1 if the transport is not open. Local.
  function transport_rank(this) result(rank)
    class(mg_transport), intent(in) :: this
    integer :: rank
    integer(c_int) :: number
    number = -1
    if (mg_transport_rank(this%handle, number) /= mg_ok) number = -1
    rank = int(number)
  end function transport_rank

  !> Returns the number of ranks; 0 if the transport is not open. Local.
  function transport_size(this) result(ranks)
    class(mg_transport), intent(in) :: this
    integer :: ranks
    integer(c_int) :: number
    number = 0
    if (mg_transport_size(this%handle, number) /= mg_ok) number = 0
    ranks = int(number)
  end function transport_size

  !> Returns the name of the communication model; empty if the transport is not open. Local.
  function transport_name(this) result(name)
    class(mg_transport), intent(in) :: this
    character(len=:), allocatable :: name
    type(c_ptr) :: text
    text = c_null_ptr
    if (mg_transport_name(this%handle, text) /= mg_ok) text = c_null_ptr
    name = mg_from_c_string(text)
  end function transport_name

  !> Returns one line on the measurements and the choice of "auto"; empty if a model was named. Local.
  function transport_choice(this) result(choice)
    class(mg_transport), intent(in) :: this
    character(len=:), allocatable :: choice
    type(c_ptr) :: text
    text = c_null_ptr
    if (mg_transport_choice(this%handle, text) /= mg_ok) text = c_null_ptr
    choice = mg_from_c_string(text)
  end function transport_choice

  !> Closes the transport, if it is open. Collective; before MPI_Finalize. Its resources are released when no object made over
  !! it is left.
  subroutine transport_close(this, stat, errmsg)
    class(mg_transport), intent(inout) :: this
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int) :: status
    status = mg_transport_close(this%handle)
    this%handle = c_null_ptr
    call mg_return_status(status, stat, errmsg)
  end subroutine transport_close

  subroutine transport_final(this)
    type(mg_transport), intent(inout) :: this
    integer(c_int) :: unused
    if (c_associated(this%handle)) unused = mg_transport_close(this%handle)
    this%handle = c_null_ptr
  end subroutine transport_final

  function to_c_box(box) result(record)
    type(mg_box), intent(in) :: box
    type(c_box) :: record
    record%struct_size = c_sizeof(record)
    record%lower = box%lower
    record%extent = box%extent
    record%periodic = merge(1_c_int32_t, 0_c_int32_t, box%periodic)
  end function to_c_box

  function to_c_cells(cells) result(numbers)
    integer, intent(in), optional :: cells(3)
    integer(c_int64_t) :: numbers(3)
    numbers = 1
    if (present(cells)) numbers = int(cells, c_int64_t)
  end function to_c_cells

  !> Cuts a box into equal cells and assigns blocks of them to ranks. shape: "auto", "1d", "2d", "3d" or "AxBxC". Local.
  subroutine decomposition_make(this, box, cells, ranks, shape, stat, errmsg)
    class(mg_decomposition), intent(inout) :: this
    type(mg_box), intent(in) :: box
    integer, intent(in) :: cells(3), ranks
    character(len=*), intent(in), optional :: shape
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    character(kind=c_char), target :: text(max_text)
    call decomposition_final(this)
    call mg_return_status(mg_decomposition_new(to_c_box(box), to_c_cells(cells), int(ranks, c_int), &
         optional_text(text, shape), this%handle), stat, errmsg)
  end subroutine decomposition_make

  !> Cuts each axis at the caller's coordinates, ascending inside the box. Ranks count along z first, then y, then x, as in
  !! a Cartesian communicator. Local. cells: grid whose cell volume an mg_clusterer uses; absent: one cell.
  subroutine decomposition_from_cuts(this, box, x, y, z, cells, stat, errmsg)
    class(mg_decomposition), intent(inout) :: this
    type(mg_box), intent(in) :: box
    real(c_double), intent(in), target, contiguous :: x(:), y(:), z(:)
    integer, intent(in), optional :: cells(3)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(c_ptr) :: cuts(3)
    cuts = c_null_ptr
    if (size(x) > 0) cuts(1) = c_loc(x)
    if (size(y) > 0) cuts(2) = c_loc(y)
    if (size(z) > 0) cuts(3) = c_loc(z)
    call decomposition_final(this)
    call mg_return_status(mg_decomposition_from_cuts(to_c_box(box), to_c_cells(cells), cuts, &
         int([size(x), size(y), size(z)], c_size_t), this%handle), stat, errmsg)
  end subroutine decomposition_from_cuts

  !> Creates a decomposition of arbitrary blocks that tile the box: lower(:, r + 1) to upper(:, r + 1) for rank r. Local.
  subroutine decomposition_from_boxes(this, box, lower, upper, cells, stat, errmsg)
    class(mg_decomposition), intent(inout) :: this
    type(mg_box), intent(in) :: box
    real(c_double), intent(in), contiguous :: lower(:, :), upper(:, :)
    integer, intent(in), optional :: cells(3)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    call decomposition_final(this)
    if (size(lower, 1) /= 3 .or. any(shape(lower) /= shape(upper))) then
       call mg_refuse(mg_usage, 'lower, upper: arrays of shape '//shape_text(lower)//' and '//shape_text(upper)// &
            '; allowed: (3, ranks) both', stat, errmsg)
       return
    end if
    call mg_return_status(mg_decomposition_from_boxes(to_c_box(box), to_c_cells(cells), lower, upper, &
         int(size(lower, 2), c_int), this%handle), stat, errmsg)
  end subroutine decomposition_from_boxes

  function shape_text(array) result(text)
    real(c_double), intent(in) :: array(:, :)
    character(len=:), allocatable :: text
    text = '('//mg_integer_text(size(array, 1))//', '//mg_integer_text(size(array, 2))//')'
  end function shape_text

  !> Creates a decomposition in which every rank passes the corners of its own block; the blocks must tile the box. Collective.
  subroutine decomposition_of_ranks(this, transport, box, lower, upper, cells, stat, errmsg)
    class(mg_decomposition), intent(inout) :: this
    type(mg_transport), intent(in) :: transport
    type(mg_box), intent(in) :: box
    real(c_double), intent(in) :: lower(3), upper(3)
    integer, intent(in), optional :: cells(3)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    call decomposition_final(this)
    call mg_return_status(mg_decomposition_of_ranks(transport%handle, to_c_box(box), to_c_cells(cells), lower, upper, &
         this%handle), stat, errmsg)
  end subroutine decomposition_of_ranks

  !> Creates a decomposition with the shape of a communicator made by MPI_Cart_create: its axis i splits axis axes(i) of the box
  !! (1, 2, 3). Cells are assigned as by make. Local.
  subroutine cartesian_integer(this, communicator, box, cells, axes, stat, errmsg)
    class(mg_decomposition), intent(inout) :: this
    integer, intent(in) :: communicator
    type(mg_box), intent(in) :: box
    integer, intent(in) :: cells(3)
    integer, intent(in), optional :: axes(3)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: of_box(3)
    of_box = [0, 1, 2]
    if (present(axes)) of_box = int(axes, c_int32_t) - 1
    call decomposition_final(this)
    call mg_return_status(mg_decomposition_cartesian(int(communicator, c_int), to_c_box(box), to_c_cells(cells), of_box, &
         this%handle), stat, errmsg)
  end subroutine cartesian_integer

#ifdef MERGANSER_MPI_F08
  !> Creates a decomposition with the shape of a Cartesian communicator of type(MPI_Comm). Local.
  subroutine cartesian_f08(this, communicator, box, cells, axes, stat, errmsg)
    class(mg_decomposition), intent(inout) :: this
    type(MPI_Comm), intent(in) :: communicator
    type(mg_box), intent(in) :: box
    integer, intent(in) :: cells(3)
    integer, intent(in), optional :: axes(3)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    call this%cartesian_integer(communicator%mpi_val, box, cells, axes, stat, errmsg)
  end subroutine cartesian_f08
#endif

  !> Returns the lower and the upper corner of a rank's block; zeros after an error. Local.
  subroutine decomposition_block(this, rank, lower, upper, stat, errmsg)
    class(mg_decomposition), intent(in) :: this
    integer, intent(in) :: rank
    real(c_double), intent(out) :: lower(3), upper(3)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    lower = 0
    upper = 0
    call mg_return_status(mg_decomposition_block(this%handle, int(rank, c_int), lower, upper), stat, errmsg)
  end subroutine decomposition_block

  !> Computes the rank that owns each point of xyz(3, n). Periodic axes are wrapped. Local. owners(n): -1 after an error.
  subroutine owners_rows(this, xyz, owners, stat, errmsg)
    class(mg_decomposition), intent(in) :: this
    real(c_double), intent(in), contiguous :: xyz(:, :)
    integer(c_int32_t), intent(out), contiguous :: owners(:)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    owners = -1
    if (size(xyz, 1) /= 3) then
       call mg_refuse(mg_usage, 'xyz: an array of shape '//shape_text(xyz)//'; allowed: (3, n)', stat, errmsg)
    else if (size(owners) /= size(xyz, 2)) then
       call mg_refuse(mg_usage, mg_length_error('owners', size(owners), mg_integer_text(size(xyz, 2))// &
            ', one for each point'), stat, errmsg)
    else
       call mg_return_status(mg_decomposition_owners(this%handle, xyz, size(xyz, 2, c_size_t), owners), stat, errmsg)
    end if
  end subroutine owners_rows

  !> Finds the ranks that own positions given in three columns x, y and z, which are copied into one array. Local.
  subroutine owners_columns(this, x, y, z, owners, stat, errmsg)
    class(mg_decomposition), intent(in) :: this
    real(c_double), intent(in) :: x(:), y(:), z(:)
    integer(c_int32_t), intent(out), contiguous :: owners(:)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    real(c_double), allocatable :: xyz(:, :)
    owners = -1
    if (size(y) /= size(x) .or. size(z) /= size(x)) then
       call mg_refuse(mg_usage, 'x, y, z: '//mg_integer_text(size(x))//', '//mg_integer_text(size(y))//' and '// &
            mg_integer_text(size(z))//' entries; allowed: as many of each', stat, errmsg)
       return
    end if
    allocate (xyz(3, size(x)))
    xyz(1, :) = x
    xyz(2, :) = y
    xyz(3, :) = z
    call this%owners_rows(xyz, owners, stat, errmsg)
  end subroutine owners_columns

  !> Frees the decomposition, if it was created. Local.
  subroutine decomposition_free(this, stat, errmsg)
    class(mg_decomposition), intent(inout) :: this
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int) :: status
    status = mg_decomposition_free(this%handle)
    this%handle = c_null_ptr
    call mg_return_status(status, stat, errmsg)
  end subroutine decomposition_free

  subroutine decomposition_final(this)
    type(mg_decomposition), intent(inout) :: this
    integer(c_int) :: unused
    if (c_associated(this%handle)) unused = mg_decomposition_free(this%handle)
    this%handle = c_null_ptr
  end subroutine decomposition_final
end module merganser_transports
