/* Library that defines MPI_Get_library_version and no other call of MPI, for plugins_test. */
#include <string.h>

int MPI_Get_library_version(char* version, int* length);
int MPI_Get_library_version(char* version, int* length) {
  strcpy(version, FAKE_VERSION "\na second line");
  *length = (int)strlen(version) + 1; /* some count the end */
  return 0;
}
