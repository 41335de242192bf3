# RUNPATH of installed targets. By default CMake links them with a RUNPATH of the build folder and rewrites it at installation, for
# which it pads the entry with separators; an empty element of a RUNPATH means the working directory, which is unsafe. So installed
# targets are linked with their final RUNPATH at once.

# merganser_runtime_path(target [folder...]): sets the RUNPATH to these folders, which must be absolute or begin with $ORIGIN and be
# valid both in the build folder and after installation, followed by the folders of external libraries.
function(merganser_runtime_path target)
  foreach(folder IN LISTS ARGN)
    if(NOT folder MATCHES "^(/|\\$ORIGIN(/|$))")
      message(FATAL_ERROR "RUNPATH of ${target}: \"${folder}\"; allowed: an absolute folder, or one that begins with $ORIGIN")
    endif()
  endforeach()
  set_target_properties(${target} PROPERTIES BUILD_WITH_INSTALL_RPATH ON INSTALL_RPATH "${ARGN}"
                        INSTALL_RPATH_USE_LINK_PATH ON)
endfunction()
