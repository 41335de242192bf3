# Where the loader looks for the libraries of what is built. CMake links what will be installed with a RUNPATH of the build
# folder and rewrites it while installing; to have space for that it fills the entry up with separators, and an empty part of a
# RUNPATH is the folder in which somebody works. So what will be installed is linked with its last RUNPATH at once.

# merganser_runtime_path(target [folder...]): these folders, which must be absolute or begin with $ORIGIN and lead to what
# the target needs both in the build folder and where it is installed; then folders of libraries from outside the project.
function(merganser_runtime_path target)
  foreach(folder IN LISTS ARGN)
    if(NOT folder MATCHES "^(/|\\$ORIGIN(/|$))")
      message(FATAL_ERROR "RUNPATH of ${target}: \"${folder}\"; allowed: an absolute folder, or one that begins with $ORIGIN")
    endif()
  endforeach()
  set_target_properties(${target} PROPERTIES BUILD_WITH_INSTALL_RPATH ON INSTALL_RPATH "${ARGN}"
                        INSTALL_RPATH_USE_LINK_PATH ON)
endfunction()
