# Toolchain that cross-compiles for 64-bit ARM on Debian, with the packages that "./x packages arm64" installs:
#   cmake --preset arm64 && cmake --build --preset arm64
# Programs run under qemu-user, on one rank only, since two threads that wait for each other may hang there.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64 -L /usr/aarch64-linux-gnu)
