// Arguments, environment, streams, clocks and random bytes through the C library.
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

static int times(void) {
  struct timespec real, first, second, resolution;
  if (clock_gettime(CLOCK_REALTIME, &real) != 0) return 1;
  if (clock_gettime(CLOCK_MONOTONIC, &first) != 0) return 2;
  if (clock_gettime(CLOCK_MONOTONIC, &second) != 0) return 3;
  if (clock_getres(CLOCK_MONOTONIC, &resolution) != 0) return 4;
  if (second.tv_sec < first.tv_sec || resolution.tv_nsec <= 0) return 5;
  printf("%lld\n", (long long)real.tv_sec);
  return 0;
}

static int echo(void) {
  char line[64];
  while (fgets(line, sizeof(line), stdin) != NULL) printf("> %s", line);
  return ferror(stdin) != 0;
}

static int waiting(void) {
  struct timespec before, after;
  clock_gettime(CLOCK_MONOTONIC, &before);
  if (usleep(50000) != 0) return 1;
  clock_gettime(CLOCK_MONOTONIC, &after);
  long long passed = (after.tv_sec - before.tv_sec) * 1000000000LL + after.tv_nsec - before.tv_nsec;
  if (passed < 50000000) return 2;
  struct timespec until = {after.tv_sec, after.tv_nsec};
  if (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) != 0) return 3;
  // Standard input is a pipe that nobody writes to for a while.
  struct pollfd files[2] = {{0, POLLIN, 0}, {1, POLLOUT, 0}};
  if (poll(files, 2, -1) != 1 || files[0].revents != 0 || files[1].revents != POLLOUT) return 4;
  if (poll(files, 1, 20) != 0) return 5;
  printf("ready\n");
  fflush(stdout);
  if (poll(files, 1, -1) != 1 || (files[0].revents & POLLIN) == 0) return 6;
  char text[8];
  return read(0, text, sizeof(text)) == 4 ? 0 : 7;
}

// Calls of the system from every depth, until the stack ends. The C library's own stack is memory.
static __attribute__((noinline)) unsigned deeper(unsigned depth) {
  if (write(1, "", 0) != 0) return 0;
  struct stat status;
  if (stat("nothing", &status) == 0) return 0;
  return deeper(depth + 1) * 3 + depth;
}

static int random_bytes(void) {
  unsigned char bytes[256] = {0};
  int seen[256] = {0}, different = 0;
  if (getentropy(bytes, sizeof(bytes)) != 0) return 1;
  for (int i = 0; i < 256; ++i) different += !seen[bytes[i]]++;
  return different < 64;
}

int main(int count, char **arguments) {
  const char *task = count > 1 ? arguments[1] : "";
  if (strcmp(task, "arguments") == 0) {
    for (int i = 0; i < count; ++i) printf("[%s]", arguments[i]);
    for (char **one = environ; *one != NULL; ++one) printf("{%s}", *one);
    printf("\n");
    return 0;
  }
  if (strcmp(task, "exit") == 0) exit(atoi(arguments[2]));
  if (strcmp(task, "abort") == 0) abort();
  if (strcmp(task, "echo") == 0) return echo();
  if (strcmp(task, "times") == 0) return times();
  if (strcmp(task, "wait") == 0) return waiting();
  if (strcmp(task, "deep") == 0) return (int)deeper(0) == 0;
  if (strcmp(task, "random") == 0) return random_bytes();
  if (strcmp(task, "yield") == 0) return sched_yield();
  if (strcmp(task, "error") == 0) return fprintf(stderr, "to standard error\n") < 0;
  if (strcmp(task, "closed") == 0) return close(1) != 0 || write(1, "x", 1) != -1 || errno != EBADF;
  if (strcmp(task, "seek") == 0) return lseek(0, 0, SEEK_SET) != -1 || errno != ESPIPE;
  if (strcmp(task, "wrong") == 0) return write(0, "x", 1) != -1 || read(77, 0, 0) != -1;
  if (strcmp(task, "pipe") == 0) {
    for (int i = 0; i < 100000; ++i) {
      if (write(1, arguments, 64) < 0) return errno == EPIPE ? 7 : 8;
    }
  }
  return 99;
}
