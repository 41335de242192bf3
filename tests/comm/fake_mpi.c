/* A library that says it is an MPI and has nothing else of one. */
#include <string.h>

int MPI_Get_library_version(char* version, int* length);
int MPI_Get_library_version(char* version, int* length) {
  strcpy(version, FAKE_VERSION "\na second line");
  *length = (int)strlen(version) + 1; /* some count the end */
  return 0;
}
