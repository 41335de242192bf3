!> Friends of friends: groups of points that distances up to a linking length connect, over all ranks. Programs use the module
!! merganser.
module merganser_friends
  use, intrinsic :: iso_c_binding, only: c_associated, c_char, c_double, c_f_pointer, c_int, c_int32_t, c_int64_t, c_loc, &
       c_null_ptr, c_ptr, c_size_t, c_sizeof
  use merganser_c
  use merganser_transports
  implicit none
  private
  public :: mg_friends, mg_friend_group

  !> Record mg_friend_group of the C interface: one group, on the rank that holds its point of the lowest id.
  type, bind(c) :: mg_friend_group
     integer(c_int64_t) :: id = 0, members = 0  !! lowest id of its points; number of points
     real(c_double) :: mass = 0                 !! sum of the masses
     real(c_double) :: centre(3) = 0            !! mean position by mass, in the box; NaN if the group winds round it
     real(c_double) :: velocity(3) = 0          !! mean velocity by mass; 0 without a velocity
     integer(c_int32_t) :: winds = 0, unused = 0  !! winds: 1 if the group winds round the box, so that it has no centre
  end type mg_friend_group

  !> Record mg_friends_options of the C interface: linking length, and least number of points of groups that are listed.
  type, bind(c) :: c_friends_options
     integer(c_size_t) :: struct_size = 0
     type(c_ptr) :: linking_length = c_null_ptr
     integer(c_int64_t) :: least_members = 0
  end type c_friends_options

  !> Record mg_friend_columns of the C interface: addresses and strides of masses, velocities and columns in which friends are
  !! equal.
  type, bind(c) :: c_friend_columns
     integer(c_size_t) :: struct_size = 0
     type(c_ptr) :: mass = c_null_ptr
     integer(c_size_t) :: mass_stride = 0
     type(c_ptr) :: velocity(3) = c_null_ptr
     integer(c_size_t) :: velocity_stride = 0, same = 0
     type(c_ptr) :: same_columns = c_null_ptr
  end type c_friend_columns

  interface
     function mg_friends_new(transport, decomposition, options, friends) bind(c) result(status)
       import :: c_int, c_ptr, c_friends_options
       type(c_ptr), value :: transport, decomposition
       type(c_friends_options), intent(in) :: options
       type(c_ptr), intent(inout) :: friends
       integer(c_int) :: status
     end function mg_friends_new
     function mg_friends_label(friends, points, ids, columns, groups) bind(c) result(status)
       import :: c_int, c_ptr, c_points, c_friend_columns
       type(c_ptr), value :: friends
       type(c_points), intent(in) :: points
       type(c_ptr), value :: ids
       type(c_friend_columns), intent(in) :: columns
       type(c_ptr), value :: groups
       integer(c_int) :: status
     end function mg_friends_label
     function mg_friends_groups(friends, groups, n) bind(c) result(status)
       import :: c_int, c_ptr, c_size_t
       type(c_ptr), value :: friends
       type(c_ptr), intent(inout) :: groups
       integer(c_size_t), intent(inout) :: n
       integer(c_int) :: status
     end function mg_friends_groups
     function mg_friends_length(friends, length) bind(c) result(status)
       import :: c_double, c_int, c_ptr
       type(c_ptr), value :: friends
       real(c_double), intent(inout) :: length
       integer(c_int) :: status
     end function mg_friends_length
     function mg_friends_free(friends) bind(c) result(status)
       import :: c_int, c_ptr
       type(c_ptr), value :: friends
       integer(c_int) :: status
     end function mg_friends_free
  end interface

  !> Finder of friends of friends, and the groups of its last search. Must not be copied.
  type :: mg_friends
     type(c_ptr) :: handle = c_null_ptr  !! handle of the C interface
   contains
     procedure :: make => friends_make
     procedure :: label => friends_label
     procedure :: groups => friends_groups
     procedure :: length => friends_length
     procedure :: free => friends_free
     final :: friends_final
  end type mg_friends

contains

  !> Creates a finder of friends of friends. Collective. linking_length: a number in units of the box, or with cell or spacing
  !! behind it, as '0.2spacing'. least_members: groups() lists groups of at least so many points (1).
  subroutine friends_make(this, transport, decomposition, linking_length, least_members, stat, errmsg)
    class(mg_friends), intent(inout) :: this
    type(mg_transport), intent(in) :: transport
    type(mg_decomposition), intent(in) :: decomposition
    character(len=*), intent(in) :: linking_length
    integer(c_int64_t), intent(in), optional :: least_members
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(c_friends_options) :: options
    character(kind=c_char), target :: text(len_trim(linking_length) + 1)
    text = mg_to_c_string(linking_length)
    options%struct_size = c_sizeof(options)
    options%linking_length = c_loc(text)
    if (present(least_members)) options%least_members = least_members
    call friends_final(this)
    call mg_return_status(mg_friends_new(transport%handle, decomposition%handle, options, this%handle), stat, errmsg)
  end subroutine friends_make

  !> Labels the groups of points xyz(3, n) or (2, n), in this rank's block and in the box. Collective. labels: id of the group of
  !! each point, the lowest id of its points. ids: distinct over all ranks. velocity(3, n). same(n, k): columns in which friends are
  !! equal.
  subroutine friends_label(this, xyz, labels, ids, mass, velocity, same, stat, errmsg)
    class(mg_friends), intent(in) :: this
    real(c_double), intent(in), target, contiguous :: xyz(:, :)
    integer(c_int64_t), intent(inout), target, contiguous :: labels(:)
    integer(c_int64_t), intent(in), target, contiguous, optional :: ids(:)
    real(c_double), intent(in), target, contiguous, optional :: mass(:), velocity(:, :), same(:, :)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(c_points) :: points
    type(c_friend_columns) :: columns
    type(c_ptr), allocatable, target :: addresses(:)
    character(len=:), allocatable :: wrong
    type(c_ptr) :: their_ids, their_labels
    integer :: k
    wrong = length_error(size(xyz, 1), size(xyz, 2), size(labels), ids, mass, velocity, same)
    if (wrong /= '') then
       call mg_refuse(mg_usage, wrong, stat, errmsg)
       return
    end if
    points%struct_size = c_sizeof(points)
    points%count = size(xyz, 2, c_size_t)
    points%stride = size(xyz, 1, c_size_t)
    columns%struct_size = c_sizeof(columns)
    their_ids = c_null_ptr
    their_labels = c_null_ptr
    allocate (addresses(0))
    if (present(same)) then
       deallocate (addresses)
       allocate (addresses(size(same, 2)))
       addresses = c_null_ptr
       columns%same = size(addresses, kind=c_size_t)
       if (size(addresses) > 0) columns%same_columns = c_loc(addresses)
    end if
    if (size(xyz, 2) > 0) then
       points%x = c_loc(xyz(1, 1))
       points%y = c_loc(xyz(2, 1))
       if (size(xyz, 1) == 3) points%z = c_loc(xyz(3, 1))
       if (present(ids)) their_ids = c_loc(ids)
       if (present(mass)) columns%mass = c_loc(mass)
       do k = 1, size(addresses)
          addresses(k) = c_loc(same(1, k))
       end do
       their_labels = c_loc(labels)
    end if
    if (present(velocity)) call set_velocity(velocity, columns)
    call mg_return_status(mg_friends_label(this%handle, points, their_ids, columns, their_labels), stat, errmsg)
  end subroutine friends_label

  !> Sets the addresses of the components of the velocity; without points those of a number, so that all ranks pass a velocity.
  subroutine set_velocity(velocity, columns)
    real(c_double), intent(in), target, contiguous :: velocity(:, :)
    type(c_friend_columns), intent(inout) :: columns
    real(c_double), save, target :: nothing = 0
    integer :: k
    columns%velocity_stride = 3
    do k = 1, 3
       columns%velocity(k) = c_loc(nothing)
       if (size(velocity, 2) > 0) columns%velocity(k) = c_loc(velocity(k, 1))
    end do
  end subroutine set_velocity

  !> Returns the error of arrays whose shape does not fit n points of `rows` coordinates; empty if all fit.
  function length_error(rows, n, labels, ids, mass, velocity, same) result(text)
    integer, intent(in) :: rows, n, labels
    integer(c_int64_t), intent(in), optional :: ids(:)
    real(c_double), intent(in), optional :: mass(:), velocity(:, :), same(:, :)
    character(len=:), allocatable :: text, allowed
    allowed = mg_integer_text(n)//', one for each point'
    text = ''
    if (rows /= 2 .and. rows /= 3) text = 'xyz: '//mg_integer_text(rows)//' rows; allowed: 2 or 3'
    if (text == '' .and. labels /= n) text = mg_length_error('labels', labels, allowed)
    if (text == '' .and. present(ids)) then
       if (size(ids) /= n) text = mg_length_error('ids', size(ids), allowed)
    end if
    if (text == '' .and. present(mass)) then
       if (size(mass) /= n) text = mg_length_error('mass', size(mass), allowed)
    end if
    if (text == '' .and. present(velocity)) then
       if (size(velocity, 1) /= 3) text = 'velocity: '//mg_integer_text(size(velocity, 1))//' rows; allowed: 3'
       if (text == '' .and. size(velocity, 2) /= n) text = mg_length_error('velocity', size(velocity, 2), allowed)
    end if
    if (text == '' .and. present(same)) then
       if (size(same, 1) /= n) text = mg_length_error('same', size(same, 1), allowed)
    end if
  end function length_error

  !> Returns the groups whose root is on this rank, by id ascending; none if no search has ended well. Local.
  subroutine friends_groups(this, groups, stat, errmsg)
    class(mg_friends), intent(in) :: this
    type(mg_friend_group), allocatable, intent(out) :: groups(:)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(mg_friend_group), pointer :: theirs(:)
    type(c_ptr) :: list
    integer(c_size_t) :: n
    integer(c_int) :: status
    list = c_null_ptr
    n = 0
    status = mg_friends_groups(this%handle, list, n)
    allocate (groups(n))
    if (n > 0) then
       call c_f_pointer(list, theirs, [n])
       groups = theirs
    end if
    call mg_return_status(status, stat, errmsg)
  end subroutine friends_groups

  !> Returns the linking length of the last search in units of the box; 0 if none has ended well. Local.
  function friends_length(this) result(length)
    class(mg_friends), intent(in) :: this
    real(c_double) :: length
    length = 0
    if (mg_friends_length(this%handle, length) /= mg_ok) length = 0
  end function friends_length

  !> Frees the finder of friends of friends, if it was created. Every rank must free it.
  subroutine friends_free(this, stat, errmsg)
    class(mg_friends), intent(inout) :: this
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int) :: status
    status = mg_friends_free(this%handle)
    this%handle = c_null_ptr
    call mg_return_status(status, stat, errmsg)
  end subroutine friends_free

  !> Finaliser of mg_friends: frees the finder without reporting errors.
  subroutine friends_final(this)
    type(mg_friends), intent(inout) :: this
    integer(c_int) :: unused
    if (c_associated(this%handle)) unused = mg_friends_free(this%handle)
    this%handle = c_null_ptr
  end subroutine friends_final
end module merganser_friends
