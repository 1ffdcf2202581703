/* Faults of the system, for LD_PRELOAD: calls on files below a folder fail.
 *
 * faults_start(folder, "short")    reads and writes take at most 7 bytes
 * faults_start(folder, "EINTR:0")  every other call that can be interrupted is
 * faults_start(folder, "EIO:N")    the Nth call fails, and all after it (ENOSPC: only those that write)
 * faults_stop()                    the number of calls since then; none fails any more
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

enum { reads = 0, writes = 1, whole = 2 }; /* whole: neither short nor interrupted */

static long calls, fail_from;
static int error_of_fault, is_short, is_running;
static char folder[PATH_MAX];

void faults_start(const char* in, const char* what) {
  snprintf(folder, sizeof folder, "%s", in);
  is_short = strcmp(what, "short") == 0;
  error_of_fault = strncmp(what, "EINTR", 5) == 0 ? EINTR : strncmp(what, "ENOSPC", 6) == 0 ? ENOSPC : EIO;
  fail_from = is_short ? 0 : atol(strchr(what, ':') + 1);
  calls = 0;
  is_running = 1;
}

long faults_stop(void) {
  is_running = 0;
  return calls;
}

static int is_below(const char* path) { return strncmp(path, folder, strlen(folder)) == 0; }

static int is_our_file(int fd) {
  char link[64], path[PATH_MAX];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t n = readlink(link, path, sizeof path - 1);
  if (n <= 0) return 0;
  path[n] = 0;
  return is_below(path);
}

static int is_our_path(const char* path) {
  char current[PATH_MAX];
  if (path[0] == '/') return is_below(path);
  return getcwd(current, sizeof current) && is_below(current);
}

/* -1 with errno if the call fails; otherwise the number of bytes it may take. */
static ssize_t fault(int is_ours, size_t size, int kind) {
  if (!is_running || !is_ours) return (ssize_t)size;
  long number = __atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED);
  if (is_short) return size > 7 && !(kind & whole) ? 7 : (ssize_t)size;
  int fails = error_of_fault == EINTR    ? number % 2 && !(kind & whole)
              : error_of_fault == ENOSPC ? (kind & writes) && fail_from && number >= fail_from
                                         : fail_from && number >= fail_from;
  if (!fails) return (ssize_t)size;
  errno = error_of_fault;
  return -1;
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

ssize_t read(int fd, void* to, size_t size) {
  ssize_t n = fault(is_running && is_our_file(fd), size, reads);
  return n < 0 ? -1 : REAL(read)(fd, to, (size_t)n);
}
ssize_t write(int fd, const void* from, size_t size) {
  ssize_t n = fault(is_running && is_our_file(fd), size, writes);
  return n < 0 ? -1 : REAL(write)(fd, from, (size_t)n);
}
ssize_t pread(int fd, void* to, size_t size, off_t at) {
  ssize_t n = fault(is_running && is_our_file(fd), size, reads);
  return n < 0 ? -1 : REAL(pread)(fd, to, (size_t)n, at);
}
ssize_t pwrite(int fd, const void* from, size_t size, off_t at) {
  ssize_t n = fault(is_running && is_our_file(fd), size, writes);
  return n < 0 ? -1 : REAL(pwrite)(fd, from, (size_t)n, at);
}
ssize_t pread64(int fd, void* to, size_t size, off64_t at) {
  ssize_t n = fault(is_running && is_our_file(fd), size, reads);
  return n < 0 ? -1 : REAL(pread64)(fd, to, (size_t)n, at);
}
ssize_t pwrite64(int fd, const void* from, size_t size, off64_t at) {
  ssize_t n = fault(is_running && is_our_file(fd), size, writes);
  return n < 0 ? -1 : REAL(pwrite64)(fd, from, (size_t)n, at);
}
ssize_t writev(int fd, const struct iovec* pieces, int count) {
  size_t size = 0;
  for (int i = 0; i < count; ++i) size += pieces[i].iov_len;
  ssize_t n = fault(is_running && is_our_file(fd), size, writes);
  if (n < 0) return -1;
  if ((size_t)n == size) return REAL(writev)(fd, pieces, count);
  for (int i = 0; i < count; ++i) /* a short one: some bytes of the first piece that has any */
    if (pieces[i].iov_len)
      return REAL(write)(fd, pieces[i].iov_base, pieces[i].iov_len < (size_t)n ? pieces[i].iov_len : (size_t)n);
  return 0;
}
/* Not interrupted: SQLite takes that for a failing disk. */
int fsync(int fd) { return fault(is_running && is_our_file(fd), 1, writes | whole) < 0 ? -1 : REAL(fsync)(fd); }
int fdatasync(int fd) { return fault(is_running && is_our_file(fd), 1, writes | whole) < 0 ? -1 : REAL(fdatasync)(fd); }
int ftruncate(int fd, off_t size) {
  return fault(is_running && is_our_file(fd), 1, writes) < 0 ? -1 : REAL(ftruncate)(fd, size);
}
int ftruncate64(int fd, off64_t size) {
  return fault(is_running && is_our_file(fd), 1, writes) < 0 ? -1 : REAL(ftruncate64)(fd, size);
}
int rename(const char* from, const char* to) {
  return fault(is_running && is_our_path(to), 1, writes | whole) < 0 ? -1 : REAL(rename)(from, to);
}
int close(int fd) { /* it is closed even if it fails, as on Linux */
  int is_failing = fault(is_running && is_our_file(fd), 1, whole) < 0, error = errno;
  int result = REAL(close)(fd);
  if (!is_failing) return result;
  errno = error;
  return -1;
}

#define OPENED(call)                                                                                     \
  mode_t mode = 0;                                                                                       \
  if (flags & (O_CREAT | __O_TMPFILE)) {                                                                 \
    va_list rest;                                                                                        \
    va_start(rest, flags);                                                                               \
    mode = va_arg(rest, mode_t);                                                                         \
    va_end(rest);                                                                                        \
  }                                                                                                      \
  return fault(is_running && is_our_path(path), 1, flags & O_CREAT ? writes : reads) < 0 ? -1 : call;
int open(const char* path, int flags, ...) { OPENED(REAL(open)(path, flags, mode)) }
int open64(const char* path, int flags, ...) { OPENED(REAL(open64)(path, flags, mode)) }
int openat(int at, const char* path, int flags, ...) { OPENED(REAL(openat)(at, path, flags, mode)) }
int openat64(int at, const char* path, int flags, ...) { OPENED(REAL(openat64)(at, path, flags, mode)) }
