!> Schemas of parcels and descriptors of the caller's columns that hold parcels. Programs use the module merganser.
module merganser_columns
  use, intrinsic :: iso_c_binding, only: c_associated, c_double, c_int, c_int64_t, c_loc, c_null_ptr, c_ptr, c_size_t, &
       c_sizeof
  use merganser_c
  use merganser_transports
  implicit none
  private
  public :: mg_schema, mg_columns

  !> Rules by which the attributes of parcels merge, the values of enum mg_rule in C.
  integer, parameter, public :: mg_mean = 0, mg_sum = 1, mg_centre = 2, mg_largest = 3, mg_ellipsoid = 4

  integer, parameter :: max_columns = 256

  !> Schema: the attributes of a parcel besides position and volume, each with the rule by which it merges. Must not be copied.
  type :: mg_schema
     type(c_ptr) :: handle = c_null_ptr  !! mg_schema of the C interface
   contains
     procedure :: make => schema_make
     procedure :: epic => schema_epic
     procedure :: add => schema_add
     procedure :: free => schema_free
     final :: schema_final
  end type mg_schema

  !> Descriptor of the caller's columns that hold parcels. It stores addresses, not copies: the arrays must have the attribute
  !! target, and must be passed again after a reallocation.
  type :: mg_columns
     private
     type(c_ptr) :: x = c_null_ptr, y = c_null_ptr, z = c_null_ptr, volume = c_null_ptr, ids = c_null_ptr
     integer(c_size_t) :: position_stride = 1
     integer :: n = 0
     type(c_ptr) :: columns(max_columns) = c_null_ptr
     integer(c_size_t) :: strides(max_columns) = 1
     ! Number of entries of the arrays that were passed; -1: none was, -2: arrays of one call differ in length.
     integer :: room_positions = -1, room_volume = -1, room_ids = -1
     integer :: capacity_columns(max_columns) = -1
   contains
     procedure, private :: positions_rows
     procedure, private :: positions_columns
     generic :: positions => positions_rows, positions_columns
     procedure :: volumes => columns_volumes
     procedure :: identities => columns_identities
     procedure, private :: columns_one
     procedure, private :: columns_several
     generic :: attribute => columns_one, columns_several
     procedure :: record => columns_record  !! for modules of the library only
     procedure :: error => columns_error    !! for modules of the library only
  end type mg_columns

contains

  ! ---- schemas ----

  !> Creates a schema of parcels without attributes. Local.
  subroutine schema_make(this, stat, errmsg)
    class(mg_schema), intent(inout) :: this
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    call schema_final(this)
    call mg_return_status(mg_schema_new(this%handle), stat, errmsg)
  end subroutine schema_make

  !> Creates the schema of EPIC's parcels: vorticity (3 components, mean), buoyancy (1, mean), B (5, ellipsoid). Local.
  subroutine schema_epic(this, stat, errmsg)
    class(mg_schema), intent(inout) :: this
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    call schema_final(this)
    call mg_return_status(mg_schema_epic(this%handle), stat, errmsg)
  end subroutine schema_epic

  !> Adds an attribute to the schema of parcels. Local. rule: mg_mean, mg_sum, mg_centre, mg_largest or mg_ellipsoid.
  subroutine schema_add(this, name, components, rule, stat, errmsg)
    class(mg_schema), intent(in) :: this
    character(len=*), intent(in) :: name
    integer, intent(in) :: components, rule
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    call mg_return_status(mg_schema_add(this%handle, mg_to_c_string(name), int(components, c_int), int(rule, c_int)), stat, errmsg)
  end subroutine schema_add

  !> Frees the schema of parcels, if it was created. Local.
  subroutine schema_free(this, stat, errmsg)
    class(mg_schema), intent(inout) :: this
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int) :: status
    status = mg_schema_free(this%handle)
    this%handle = c_null_ptr
    call mg_return_status(status, stat, errmsg)
  end subroutine schema_free

  !> Finaliser of mg_schema: frees the schema without reporting errors.
  subroutine schema_final(this)
    type(mg_schema), intent(inout) :: this
    integer(c_int) :: unused
    if (c_associated(this%handle)) unused = mg_schema_free(this%handle)
    this%handle = c_null_ptr
  end subroutine schema_final

  ! ---- columns ----

  !> Sets the address of the parcels' positions in the descriptor, from one array of shape (3, n) or (2, n).
  subroutine positions_rows(this, xyz)
    class(mg_columns), intent(inout) :: this
    real(c_double), intent(in), target, contiguous :: xyz(:, :)
    this%x = c_null_ptr
    this%y = c_null_ptr
    this%z = c_null_ptr
    this%position_stride = max(size(xyz, 1, c_size_t), 1_c_size_t)
    this%room_positions = merge(size(xyz, 2), -2, size(xyz, 1) == 2 .or. size(xyz, 1) == 3)
    if (size(xyz) == 0) return
    this%x = c_loc(xyz(1, 1))
    if (size(xyz, 1) > 1) this%y = c_loc(xyz(2, 1))
    if (size(xyz, 1) > 2) this%z = c_loc(xyz(3, 1))
  end subroutine positions_rows

  !> Sets the addresses of the parcels' positions in the descriptor, from separate columns x, y and, in three dimensions, z.
  subroutine positions_columns(this, x, y, z)
    class(mg_columns), intent(inout) :: this
    real(c_double), intent(in), target, contiguous :: x(:), y(:)
    real(c_double), intent(in), target, contiguous, optional :: z(:)
    this%x = c_null_ptr
    this%y = c_null_ptr
    this%z = c_null_ptr
    this%position_stride = 1
    this%room_positions = merge(size(x), -2, size(y) == size(x))
    if (size(x) > 0) this%x = c_loc(x)
    if (size(y) > 0) this%y = c_loc(y)
    if (.not. present(z)) return
    if (size(z) /= size(x)) this%room_positions = -2
    if (size(z) > 0) this%z = c_loc(z)
  end subroutine positions_columns

  !> Sets the address of the parcels' volumes in the descriptor, one number per parcel.
  subroutine columns_volumes(this, volume)
    class(mg_columns), intent(inout) :: this
    real(c_double), intent(in), target, contiguous :: volume(:)
    this%room_volume = size(volume)
    this%volume = c_null_ptr
    if (size(volume) > 0) this%volume = c_loc(volume)
  end subroutine columns_volumes

  !> Sets the address of the parcels' ids in the descriptor, one per parcel, unique over all ranks.
  subroutine columns_identities(this, ids)
    class(mg_columns), intent(inout) :: this
    integer(c_int64_t), intent(in), target, contiguous :: ids(:)
    this%room_ids = size(ids)
    this%ids = c_null_ptr
    if (size(ids) > 0) this%ids = c_loc(ids)
  end subroutine columns_identities

  !> Appends to the descriptor of parcel columns that of the schema's next attribute, of one component.
  subroutine columns_one(this, values)
    class(mg_columns), intent(inout) :: this
    real(c_double), intent(in), target, contiguous :: values(:)
    this%n = this%n + 1
    if (this%n > max_columns) return  ! error() reports it later
    this%capacity_columns(this%n) = size(values)
    if (size(values) > 0) this%columns(this%n) = c_loc(values)
  end subroutine columns_one

  !> Appends to the descriptor of parcel columns those of the schema's next attribute, from an array of shape (components, n).
  subroutine columns_several(this, values)
    class(mg_columns), intent(inout) :: this
    real(c_double), intent(in), target, contiguous :: values(:, :)
    integer :: c
    do c = 1, size(values, 1)
       this%n = this%n + 1
       if (this%n > max_columns) return
       this%capacity_columns(this%n) = size(values, 2)
       this%strides(this%n) = size(values, 1, c_size_t)
       if (size(values, 2) > 0) this%columns(this%n) = c_loc(values(c, 1))
    end do
  end subroutine columns_several

  !> Returns the text of the first error in the descriptor of columns for n parcels; empty if valid. ids: true if ids are required.
  function columns_error(this, n, ids) result(text)
    class(mg_columns), intent(in) :: this
    integer, intent(in) :: n
    logical, intent(in), optional :: ids
    character(len=:), allocatable :: text
    integer :: c
    logical :: need_ids
    need_ids = .false.
    if (present(ids)) need_ids = ids
    text = ''
    if (n < 0) then
       text = 'parcels: '//mg_integer_text(n)//'; allowed: 0 and more'
       return
    end if
    if (this%n > max_columns) then
       text = 'attributes: '//mg_integer_text(this%n)//' columns; allowed: up to '//mg_integer_text(max_columns)
       return
    end if
    if (this%room_positions == -2) then
       text = 'positions: allowed: (2, n), (3, n), or columns of one length'
       return
    end if
    call check_capacity('positions', this%room_positions, .true.)
    call check_capacity('volumes', this%room_volume, .true.)
    call check_capacity('identities', this%room_ids, need_ids)
    do c = 1, this%n
       call check_capacity('attributes: column '//mg_integer_text(c), this%capacity_columns(c), .true.)
    end do

  contains

    !> Sets the error text, unless it is set, if a column has fewer than n entries, or is absent although required.
    subroutine check_capacity(name, capacity, must_be)
      character(len=*), intent(in) :: name
      integer, intent(in) :: capacity
      logical, intent(in) :: must_be
      if (text /= '' .or. n == 0 .or. capacity >= n .or. (capacity < 0 .and. .not. must_be)) return
      if (capacity < 0) then
         text = name//': none named; allowed: an array of '//mg_integer_text(n)//' or more'
      else
         text = mg_length_error(name, capacity, mg_integer_text(n)//' or more, one for each parcel')
      end if
    end subroutine check_capacity
  end function columns_error

  !> Returns the record mg_columns of the C interface for the descriptor, with n parcels.
  function columns_record(this, n) result(record)
    class(mg_columns), intent(in), target :: this
    integer, intent(in) :: n
    type(c_columns) :: record
    record%struct_size = c_sizeof(record)
    record%count = int(n, c_size_t)
    record%x = this%x
    record%y = this%y
    record%z = this%z
    record%position_stride = this%position_stride
    record%volume = this%volume
    record%attributes = int(this%n, c_size_t)  ! C refuses a number that differs from the schema's
    record%columns = c_loc(this%columns)
    record%strides = c_loc(this%strides)
    record%ids = this%ids
  end function columns_record
end module merganser_columns
