/* Faults of the system, for LD_PRELOAD: calls on files below the folder GOODGAIN_FAULT_FOLDER fail.
 *
 * GOODGAIN_FAULT=short    reads and writes take at most 7 bytes
 * GOODGAIN_FAULT=EINTR:0  every other call is interrupted
 * GOODGAIN_FAULT=EIO:N    the Nth call fails, and all after it (ENOSPC: only those that write)
 * The number of calls is written to the file GOODGAIN_FAULT_COUNT.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

static long calls;

static int is_ours(int fd) {
  char link[64], path[4096];
  const char* folder = getenv("GOODGAIN_FAULT_FOLDER");
  if (!folder) return 0;
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t n = readlink(link, path, sizeof path - 1);
  if (n <= 0) return 0;
  path[n] = 0;
  return strncmp(path, folder, strlen(folder)) == 0;
}

static void save_count(void) {
  const char* name = getenv("GOODGAIN_FAULT_COUNT");
  FILE* file = name ? fopen(name, "w") : NULL;
  if (!file) return;
  fprintf(file, "%ld", calls);
  fclose(file);
}

/* -1 with errno if the call fails; otherwise the number of bytes it may take. */
static ssize_t fault(int fd, size_t size, int writes) {
  const char* what = getenv("GOODGAIN_FAULT");
  if (!what || !is_ours(fd)) return (ssize_t)size;
  if (calls == 0) atexit(save_count);
  ++calls;
  if (strcmp(what, "short") == 0) return size > 7 ? 7 : (ssize_t)size;
  if (strncmp(what, "EINTR", 5) == 0) {
    errno = EINTR;
    return calls % 2 ? -1 : (ssize_t)size;
  }
  int error = strncmp(what, "ENOSPC", 6) == 0 ? ENOSPC : EIO;
  long at = atol(strchr(what, ':') + 1);
  if (at == 0 || calls < at || (error == ENOSPC && !writes)) return (ssize_t)size;
  errno = error;
  return -1;
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

ssize_t read(int fd, void* to, size_t size) {
  ssize_t n = fault(fd, size, 0);
  return n < 0 ? -1 : REAL(read)(fd, to, (size_t)n);
}
ssize_t write(int fd, const void* from, size_t size) {
  ssize_t n = fault(fd, size, 1);
  return n < 0 ? -1 : REAL(write)(fd, from, (size_t)n);
}
ssize_t pread(int fd, void* to, size_t size, off_t at) {
  ssize_t n = fault(fd, size, 0);
  return n < 0 ? -1 : REAL(pread)(fd, to, (size_t)n, at);
}
ssize_t pwrite(int fd, const void* from, size_t size, off_t at) {
  ssize_t n = fault(fd, size, 1);
  return n < 0 ? -1 : REAL(pwrite)(fd, from, (size_t)n, at);
}
ssize_t pread64(int fd, void* to, size_t size, off64_t at) {
  ssize_t n = fault(fd, size, 0);
  return n < 0 ? -1 : REAL(pread64)(fd, to, (size_t)n, at);
}
ssize_t pwrite64(int fd, const void* from, size_t size, off64_t at) {
  ssize_t n = fault(fd, size, 1);
  return n < 0 ? -1 : REAL(pwrite64)(fd, from, (size_t)n, at);
}
int fsync(int fd) { return fault(fd, 1, 1) < 0 ? -1 : REAL(fsync)(fd); }
