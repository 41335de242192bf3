# Toolchain that cross-compiles for IBM Z (s390x), a big-endian processor, on Debian, with the packages that "./x packages s390x"
# installs:
#   cmake --preset s390x && cmake --build --preset s390x --target test_digests
# Programs run under qemu-user, on one rank only, since two threads that wait for each other may hang there.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR s390x)
set(CMAKE_C_COMPILER s390x-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER s390x-linux-gnu-g++)
set(CMAKE_LIBRARY_ARCHITECTURE s390x-linux-gnu)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-s390x -L /)
