!> merganser for Fortran 2008: stars and friends of friends among points, merge steps on parcels in columns, and announcements,
!! over a communicator of the program.
!!
!!     use merganser
!!     type(mg_transport) :: transport
!!     type(mg_decomposition) :: blocks
!!     type(mg_finder) :: finder
!!     call transport%open(communicator)                  ! type(MPI_Comm) or integer; collective
!!     call blocks%of_ranks(transport, box, lower, upper) ! every rank passes its own block; collective
!!     call finder%make(transport, blocks)                ! collective
!!     call finder%find(position(:, 1:n), small, ids)     ! all ranks; communicates with neighbours only
!!     call finder%lists(isma, iclo, inva)                ! sources, their centres, and slots that become free
!!
!! Every subroutine takes stat= and errmsg= as statements of the standard do; without stat= an error ends the job with its text.
!! Positions in arrays count from 1, ranks from 0 as in MPI. Details: docs/embed.md.
module merganser
  use merganser_transports, only: mg_box, mg_transport, mg_decomposition, mg_version_text, mg_ok, mg_verification, &
       mg_usage, mg_input, mg_communication, mg_internal, mg_memory
  use merganser_columns, only: mg_schema, mg_columns, mg_mean, mg_sum, mg_centre, mg_largest, mg_ellipsoid
  use merganser_stars, only: mg_finder
  use merganser_friends, only: mg_friends, mg_friend_group
  use merganser_steps, only: mg_clusterer, mg_announcer, mg_place_predicate, mg_step_numbers
  implicit none
  public
end module merganser
