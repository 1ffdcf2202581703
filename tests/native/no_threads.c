/* For LD_PRELOAD: of all threads that a process starts, only the first $THREADS can be. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

static long started;

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*start)(void*), void* argument) {
  const char* limit = getenv("THREADS");
  if (limit && __atomic_add_fetch(&started, 1, __ATOMIC_RELAXED) > atol(limit)) return EAGAIN;
  return ((__typeof__(&pthread_create))dlsym(RTLD_NEXT, "pthread_create"))(thread, attributes, start, argument);
}
