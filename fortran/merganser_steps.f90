!> Clusterer (merge steps on parcels that are copied from and to the caller's columns) and announcement networks. Programs use
!! the module merganser.
module merganser_steps
  use, intrinsic :: iso_c_binding, only: c_associated, c_char, c_double, c_f_pointer, c_funloc, c_int, c_int32_t, c_int64_t, &
       c_loc, c_null_ptr, c_ptr, c_size_t, c_sizeof
  use merganser_c, mg_step_numbers => c_step_numbers
  use merganser_transports
  use merganser_columns
  implicit none
  private
  public :: mg_clusterer, mg_announcer, mg_place_predicate, mg_step_numbers

  abstract interface
     !> Predicate of a merge policy on the place of a merged parcel: 0 where none may be. It must be the same on every rank, depend
     !! on the place alone, and not call this library.
     function mg_place_predicate(position, user) bind(c) result(allowed)
       import :: c_double, c_int, c_ptr
       real(c_double), intent(in) :: position(3)
       type(c_ptr), value :: user
       integer(c_int) :: allowed
     end function mg_place_predicate
  end interface

  !> Clusterer: this rank's parcels and the communication objects of merge steps. Must not be copied.
  type :: mg_clusterer
     type(c_ptr) :: handle = c_null_ptr  !! handle of the C interface
   contains
     procedure :: make => clusterer_make
     procedure :: put => clusterer_put
     procedure :: distribute => clusterer_distribute
     procedure :: step => clusterer_step
     procedure :: policy_step => clusterer_policy_step
     procedure :: redistribute => clusterer_redistribute
     procedure :: parcels => clusterer_parcels
     procedure :: get => clusterer_get
     procedure :: digest => clusterer_digest
     procedure :: free => clusterer_free
     final :: clusterer_final
  end type mg_clusterer

  !> Announcement network: broadcasts from any rank to all ranks without a collective call. Must not be copied.
  type :: mg_announcer
     type(c_ptr) :: handle = c_null_ptr  !! handle of the C interface
   contains
     procedure :: make => announcer_make
     procedure, private :: announce_reals, announce_integers, announce_text
     generic :: announce => announce_reals, announce_integers, announce_text
     procedure :: step => announcer_step
     procedure :: about => announcer_about
     procedure, private :: get_reals, get_integers, get_text
     generic :: get => get_reals, get_integers, get_text
     procedure :: time => announcer_time
     procedure :: free => announcer_free
     final :: announcer_final
  end type mg_announcer

contains

  !> Creates a clusterer without parcels, with its communication objects. Collective. A parcel is small if its volume is below
  !! cell volume / min_volume_ratio (default 40). as_published: search in 2x2x2 cells and iterative pruning. policy: text of a
  !! merge policy, as 'crowded:32->16, place:member' (docs/merge-policies.md); policy_step: number of the next step in the key of
  !! its random numbers; allowed: where merged parcels may be, with a policy that has `within`.
  subroutine clusterer_make(this, transport, decomposition, schema, min_volume_ratio, as_published, stat, errmsg, policy, &
       policy_step, allowed)
    class(mg_clusterer), intent(inout) :: this
    type(mg_transport), intent(in) :: transport
    type(mg_decomposition), intent(in) :: decomposition
    type(mg_schema), intent(in) :: schema
    real(c_double), intent(in), optional :: min_volume_ratio
    logical, intent(in), optional :: as_published
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    character(len=*), intent(in), optional :: policy
    integer(c_int64_t), intent(in), optional :: policy_step
    procedure(mg_place_predicate), optional :: allowed
    type(c_clusterer_options) :: options
    character(kind=c_char), allocatable, target :: text(:)
    options%struct_size = c_sizeof(options)
    if (present(policy)) then
       allocate (text(len_trim(policy) + 1))
       text = mg_to_c_string(policy)
       options%policy = c_loc(text)
    end if
    if (present(policy_step)) options%policy_step = policy_step
    if (present(allowed)) options%allowed = c_funloc(allowed)
    if (present(min_volume_ratio)) options%min_volume_ratio = min_volume_ratio
    if (present(as_published)) then
       options%search = merge(1_c_int32_t, 0_c_int32_t, as_published)
       options%prune = options%search
    end if
    call clusterer_final(this)
    call mg_return_status(mg_clusterer_new(transport%handle, decomposition%handle, schema%handle, options, this%handle), &
         stat, errmsg)
  end subroutine clusterer_make

  !> Replaces this rank's parcels by a copy of the first n of the caller's columns. Local.
  subroutine clusterer_put(this, columns, n, stat, errmsg)
    class(mg_clusterer), intent(in) :: this
    type(mg_columns), intent(in), target :: columns
    integer, intent(in) :: n
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    if (columns%error(n, .true.) /= '') then
       call mg_refuse(mg_usage, columns%error(n, .true.), stat, errmsg)
       return
    end if
    call mg_return_status(mg_clusterer_put(this%handle, columns%record(n)), stat, errmsg)
  end subroutine clusterer_put

  !> Sends every parcel to the rank that owns its position, whichever rank holds it. Collective.
  subroutine clusterer_distribute(this, stat, errmsg)
    class(mg_clusterer), intent(in) :: this
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    call mg_return_status(mg_clusterer_distribute(this%handle), stat, errmsg)
  end subroutine clusterer_distribute

  !> Makes one merge step on the parcels of all ranks. Called by every rank. merged: number of sources whose centre is on this rank.
  !! numbers: counts of this rank, and what a merge policy adds: rounds, weight, momentum, energy.
  subroutine clusterer_step(this, merged, stat, errmsg, numbers)
    class(mg_clusterer), intent(in) :: this
    integer(c_int64_t), intent(out), optional :: merged
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(mg_step_numbers), intent(out), optional :: numbers
    type(mg_step_numbers) :: report
    integer(c_int) :: status
    report%struct_size = c_sizeof(report)
    status = mg_clusterer_step(this%handle, report)
    if (present(merged)) merged = report%merged
    if (present(numbers)) numbers = report
    call mg_return_status(status, stat, errmsg)
  end subroutine clusterer_step

  !> Returns the number of the next step in the key of the merge policy's random numbers; 0 if the clusterer was not created. Local.
  function clusterer_policy_step(this) result(step)
    class(mg_clusterer), intent(in) :: this
    integer(c_int64_t) :: step
    step = 0
    if (mg_clusterer_policy_step(this%handle, step) /= mg_ok) step = 0
  end function clusterer_policy_step

  !> Sends parcels that left this rank's block to their owners. Called by every rank. sent: number of parcels sent.
  subroutine clusterer_redistribute(this, sent, stat, errmsg)
    class(mg_clusterer), intent(in) :: this
    integer(c_int64_t), intent(out), optional :: sent
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int64_t) :: n
    integer(c_int) :: status
    n = 0
    status = mg_clusterer_redistribute(this%handle, n)
    if (present(sent)) sent = n
    call mg_return_status(status, stat, errmsg)
  end subroutine clusterer_redistribute

  !> Returns the number of parcels that the clusterer holds on this rank; 0 if it was not created. Local.
  function clusterer_parcels(this) result(parcels)
    class(mg_clusterer), intent(in) :: this
    integer :: parcels
    integer(c_size_t) :: n
    n = 0
    if (mg_clusterer_count(this%handle, n) /= mg_ok) n = 0
    parcels = int(n)
  end function clusterer_parcels

  !> Copies the parcels of this rank's clusterer into the caller's columns of `capacity` entries. Local. n: number of parcels.
  subroutine clusterer_get(this, columns, capacity, n, stat, errmsg)
    class(mg_clusterer), intent(in) :: this
    type(mg_columns), intent(in), target :: columns
    integer, intent(in) :: capacity
    integer, intent(out) :: n
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_size_t) :: parcels
    integer(c_int) :: status
    parcels = 0
    n = 0
    if (columns%error(capacity, .true.) /= '') then
       call mg_refuse(mg_usage, columns%error(capacity, .true.), stat, errmsg)
       return
    end if
    status = mg_clusterer_get(this%handle, columns%record(capacity), parcels)
    n = int(parcels)
    call mg_return_status(status, stat, errmsg)
  end subroutine clusterer_get

  !> Computes the digest of the parcels of all ranks, an order-independent hash, as 32 hexadecimal digits. Collective.
  subroutine clusterer_digest(this, digest, stat, errmsg)
    class(mg_clusterer), intent(in) :: this
    character(len=32), intent(out) :: digest
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    character(kind=c_char) :: text(33)
    integer(c_int) :: status
    integer :: i
    text = ' '
    status = mg_clusterer_digest(this%handle, text)
    do i = 1, 32
       digest(i:i) = text(i)
    end do
    call mg_return_status(status, stat, errmsg)
  end subroutine clusterer_digest

  !> Frees the clusterer and its parcels, if it was created. Every rank must free it.
  subroutine clusterer_free(this, stat, errmsg)
    class(mg_clusterer), intent(inout) :: this
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int) :: status
    status = mg_clusterer_free(this%handle)
    this%handle = c_null_ptr
    call mg_return_status(status, stat, errmsg)
  end subroutine clusterer_free

  !> Finaliser of mg_clusterer: frees the clusterer and its parcels without reporting errors.
  subroutine clusterer_final(this)
    type(mg_clusterer), intent(inout) :: this
    integer(c_int) :: unused
    if (c_associated(this%handle)) unused = mg_clusterer_free(this%handle)
    this%handle = c_null_ptr
  end subroutine clusterer_final

  ! ---- announcements ----

  !> Creates an announcement network. Collective. network: "manhattan", "torus", "hypercube" or "debruijn"; dimension: number of
  !! dimensions of the first two; degree of debruijn.
  subroutine announcer_make(this, transport, network, dimension, stat, errmsg)
    class(mg_announcer), intent(inout) :: this
    type(mg_transport), intent(in) :: transport
    character(len=*), intent(in) :: network
    integer, intent(in) :: dimension
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    call announcer_final(this)
    call mg_return_status(mg_announcer_new(transport%handle, mg_to_c_string(network), int(dimension, c_int), c_null_ptr, &
         this%handle), stat, errmsg)
  end subroutine announcer_make

  !> Announces real numbers: copies them to be sent to all ranks, this one included, from the next step on. Local. topic: 0 to
  !! 65279. at_once: deliver on each rank at the step at which they arrive, not on all ranks at the same step.
  subroutine announce_reals(this, topic, values, at_once, stat, errmsg)
    class(mg_announcer), intent(in) :: this
    integer, intent(in) :: topic
    real(c_double), intent(in), target, contiguous :: values(:)
    logical, intent(in), optional :: at_once
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(c_ptr) :: address
    address = c_null_ptr
    if (size(values) > 0) address = c_loc(values)
    call announce_bytes(this, topic, address, 8 * size(values, kind=c_size_t), at_once, stat, errmsg)
  end subroutine announce_reals

  !> Announces integers of 64 bits: copies them to be sent to all ranks from the next step of the network on. Local.
  subroutine announce_integers(this, topic, values, at_once, stat, errmsg)
    class(mg_announcer), intent(in) :: this
    integer, intent(in) :: topic
    integer(c_int64_t), intent(in), target, contiguous :: values(:)
    logical, intent(in), optional :: at_once
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(c_ptr) :: address
    address = c_null_ptr
    if (size(values) > 0) address = c_loc(values)
    call announce_bytes(this, topic, address, 8 * size(values, kind=c_size_t), at_once, stat, errmsg)
  end subroutine announce_integers

  !> Announces a text: copies it to be sent to all ranks from the next step of the network on. Local.
  subroutine announce_text(this, topic, text, at_once, stat, errmsg)
    class(mg_announcer), intent(in) :: this
    integer, intent(in) :: topic
    character(len=*), intent(in) :: text
    logical, intent(in), optional :: at_once
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    character(kind=c_char), target :: bytes(len(text) + 1)
    integer :: i
    do i = 1, len(text)
       bytes(i) = text(i:i)
    end do
    call announce_bytes(this, topic, c_loc(bytes), int(len(text), c_size_t), at_once, stat, errmsg)
  end subroutine announce_text

  !> Announces `bytes` bytes at an address to all ranks, for announce_reals, _integers and _text. Local.
  subroutine announce_bytes(this, topic, address, bytes, at_once, stat, errmsg)
    class(mg_announcer), intent(in) :: this
    integer, intent(in) :: topic
    type(c_ptr), intent(in) :: address
    integer(c_size_t), intent(in) :: bytes
    logical, intent(in), optional :: at_once
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int) :: delivery
    delivery = 0
    if (present(at_once)) delivery = merge(1_c_int, 0_c_int, at_once)
    call mg_return_status(mg_announcer_announce(this%handle, int(topic, c_int), address, bytes, delivery), stat, errmsg)
  end subroutine announce_bytes

  !> Makes one step of the announcement network: forwards all announcements by one hop. Called by every rank. n: number of
  !! announcements delivered on this rank.
  subroutine announcer_step(this, n, stat, errmsg)
    class(mg_announcer), intent(in) :: this
    integer, intent(out) :: n
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_size_t) :: count
    integer(c_int) :: status
    count = 0
    status = mg_announcer_step(this%handle, count)
    n = int(count)
    call mg_return_status(status, stat, errmsg)
  end subroutine announcer_step

  !> Returns announcement k, from 1, of those that the last step delivered; its byte_count is 0 if there is none.
  function announcement(this, k) result(it)
    class(mg_announcer), intent(in) :: this
    integer, intent(in) :: k
    type(c_announcement) :: it
    type(c_announcement), pointer :: all(:)
    type(c_ptr) :: list
    integer(c_size_t) :: n
    n = 0
    list = c_null_ptr
    it = c_announcement(-1, 0, 0, 0, 0, c_null_ptr, 0)
    if (mg_announcer_received(this%handle, list, n) /= mg_ok) return
    if (k < 1 .or. k > n) return
    call c_f_pointer(list, all, [n])
    it = all(k)
  end function announcement

  !> Returns the origin of announcement k (-1: there is none), its topic, the number of steps that the origin had made, and the
  !! number of bytes. Local.
  subroutine announcer_about(this, k, origin, topic, announced, bytes)
    class(mg_announcer), intent(in) :: this
    integer, intent(in) :: k
    integer, intent(out) :: origin, topic
    integer(c_int64_t), intent(out), optional :: announced
    integer, intent(out), optional :: bytes
    type(c_announcement) :: it
    it = announcement(this, k)
    origin = int(it%origin)
    topic = iand(int(it%topic), 65535)
    if (present(announced)) announced = it%announced
    if (present(bytes)) bytes = int(it%byte_count)
  end subroutine announcer_about

  !> Returns the contents of announcement k as real numbers; an empty array if there is no such announcement. Local.
  subroutine get_reals(this, k, values)
    class(mg_announcer), intent(in) :: this
    integer, intent(in) :: k
    real(c_double), allocatable, intent(out) :: values(:)
    real(c_double), pointer :: theirs(:)
    type(c_announcement) :: it
    it = announcement(this, k)
    allocate (values(it%byte_count / 8))
    if (size(values) == 0) return
    call c_f_pointer(it%bytes, theirs, shape(values))
    values = theirs
  end subroutine get_reals

  !> Returns the contents of announcement k as integers; an empty array if there is no such announcement. Local.
  subroutine get_integers(this, k, values)
    class(mg_announcer), intent(in) :: this
    integer, intent(in) :: k
    integer(c_int64_t), allocatable, intent(out) :: values(:)
    integer(c_int64_t), pointer :: theirs(:)
    type(c_announcement) :: it
    it = announcement(this, k)
    allocate (values(it%byte_count / 8))
    if (size(values) == 0) return
    call c_f_pointer(it%bytes, theirs, shape(values))
    values = theirs
  end subroutine get_integers

  !> Returns the contents of announcement k as a text; an empty one if there is no such announcement. Local.
  subroutine get_text(this, k, text)
    class(mg_announcer), intent(in) :: this
    integer, intent(in) :: k
    character(len=:), allocatable, intent(out) :: text
    character(kind=c_char), pointer :: theirs(:)
    type(c_announcement) :: it
    integer :: i
    it = announcement(this, k)
    allocate (character(len=it%byte_count) :: text)
    if (it%byte_count == 0) return
    call c_f_pointer(it%bytes, theirs, [it%byte_count])
    do i = 1, len(text)
       text(i:i) = theirs(i)
    end do
  end subroutine get_text

  !> Returns the number of steps after which an announcement has reached all ranks; 0 if the announcer was not created. Local.
  function announcer_time(this) result(steps)
    class(mg_announcer), intent(in) :: this
    integer :: steps
    integer(c_int) :: number
    number = 0
    if (mg_announcer_time(this%handle, number) /= mg_ok) number = 0
    steps = int(number)
  end function announcer_time

  !> Frees the announcement network, if it was created. Every rank must free it.
  subroutine announcer_free(this, stat, errmsg)
    class(mg_announcer), intent(inout) :: this
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int) :: status
    status = mg_announcer_free(this%handle)
    this%handle = c_null_ptr
    call mg_return_status(status, stat, errmsg)
  end subroutine announcer_free

  !> Finaliser of mg_announcer: frees the announcement network without reporting errors.
  subroutine announcer_final(this)
    type(mg_announcer), intent(inout) :: this
    integer(c_int) :: unused
    if (c_associated(this%handle)) unused = mg_announcer_free(this%handle)
    this%handle = c_null_ptr
  end subroutine announcer_final
end module merganser_steps
