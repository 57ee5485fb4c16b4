// Files in a directory called "data", through the C library. Prints the line of the first check that
// does not hold.
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>
#include <wasi/api.h>

#define CHECK(condition)                                                 \
  do {                                                                   \
    if (!(condition)) {                                                  \
      printf("line %d: %s: errno %d\n", __LINE__, #condition, errno);    \
      exit(1);                                                           \
    }                                                                    \
  } while (0)
#define FAILS(call, error) CHECK((call) == -1 && errno == (error))

static void reading_and_writing(void) {
  int file = open("data/new", O_CREAT | O_EXCL | O_RDWR, 0666);
  CHECK(file >= 4);
  FAILS(open("data/new", O_CREAT | O_EXCL | O_RDWR, 0666), EEXIST);
  struct iovec parts[2] = {{"hello ", 6}, {"world", 5}};
  CHECK(writev(file, parts, 2) == 11);
  CHECK(lseek(file, -5, SEEK_CUR) == 6 && lseek(file, 0, SEEK_CUR) == 6);
  char text[32] = {0};
  CHECK(read(file, text, sizeof(text)) == 5 && strcmp(text, "world") == 0);
  CHECK(read(file, text, sizeof(text)) == 0);
  CHECK(pwrite(file, "J", 1, 0) == 1 && pread(file, text, 5, 0) == 5 && memcmp(text, "Jello", 5) == 0);
  FAILS(lseek(file, -1, SEEK_SET), EINVAL);
  CHECK(ftruncate(file, 3) == 0);
  struct stat status;
  CHECK(fstat(file, &status) == 0 && status.st_size == 3 && S_ISREG(status.st_mode));
  CHECK(posix_fallocate(file, 0, 4096) == 0 && fstat(file, &status) == 0 && status.st_size == 4096);
  CHECK(posix_fadvise(file, 0, 0, POSIX_FADV_SEQUENTIAL) == 0);
  CHECK(fsync(file) == 0 && fdatasync(file) == 0);
  struct timespec times[2] = {{1000, 5}, {2000, 6}};
  CHECK(futimens(file, times) == 0 && fstat(file, &status) == 0);
  CHECK(status.st_atim.tv_sec == 1000 && status.st_mtim.tv_sec == 2000 && status.st_mtim.tv_nsec == 6);
  CHECK(close(file) == 0);
  FAILS(close(file), EBADF);
  file = open("data/new", O_WRONLY | O_TRUNC | O_APPEND);
  CHECK(file >= 0 && write(file, "a", 1) == 1 && lseek(file, 0, SEEK_SET) == 0 &&
        write(file, "b", 1) == 1 && lseek(file, 0, SEEK_CUR) == 2);
  CHECK(read(file, text, 1) == -1);
  CHECK((fcntl(file, F_GETFL) & O_APPEND) != 0 && fcntl(file, F_SETFL, 0) == 0);
  CHECK(close(file) == 0);
  file = open("data/new", O_RDONLY);
  CHECK(file >= 0 && write(file, "x", 1) == -1 && read(file, text, 9) == 2);
  CHECK(close(file) == 0 && unlink("data/new") == 0);
  FAILS(open("data/new", O_RDONLY), ENOENT);
}

static void folders(void) {
  CHECK(mkdir("data/folder", 0777) == 0);
  FAILS(mkdir("data/folder", 0777), EEXIST);
  char name[64];
  for (int i = 0; i < 500; ++i) {
    snprintf(name, sizeof(name), "data/folder/a-file-with-a-longer-name-%d", i);
    int file = open(name, O_CREAT | O_WRONLY, 0666);
    CHECK(file >= 0 && close(file) == 0);
  }
  DIR *folder = opendir("data/folder");
  CHECK(folder != NULL);
  int seen = 0, sum = 0;
  for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
    if (entry->d_name[0] == '.') continue;
    CHECK(entry->d_type == DT_REG);
    ++seen;
    sum += atoi(strrchr(entry->d_name, '-') + 1);
  }
  CHECK(seen == 500 && sum == 500 * 499 / 2);
  rewinddir(folder);
  CHECK(readdir(folder) != NULL && closedir(folder) == 0);
  FAILS(rmdir("data/folder"), ENOTEMPTY);
  FAILS(rmdir("data/folder/a-file-with-a-longer-name-0"), ENOTDIR);
  CHECK(unlink("data/folder") == -1);
  for (int i = 0; i < 500; ++i) {
    snprintf(name, sizeof(name), "data/folder/a-file-with-a-longer-name-%d", i);
    CHECK(unlink(name) == 0);
  }
  CHECK(rmdir("data/folder/") == 0);
  FAILS(opendir("data/folder") == NULL ? -1 : 0, ENOENT);
}

static void links(void) {
  int file = open("data/target", O_CREAT | O_WRONLY, 0666);
  CHECK(file >= 0 && write(file, "12345", 5) == 5 && close(file) == 0);
  CHECK(symlink("target", "data/soft") == 0 && link("data/target", "data/hard") == 0);
  char text[64] = {0};
  CHECK(readlink("data/soft", text, sizeof(text)) == 6 && strcmp(text, "target") == 0);
  CHECK(readlink("data/soft", text, 3) == 3);
  FAILS(readlink("data/target", text, sizeof(text)), EINVAL);
  struct stat status;
  CHECK(stat("data/soft", &status) == 0 && S_ISREG(status.st_mode) && status.st_size == 5);
  CHECK(lstat("data/soft", &status) == 0 && S_ISLNK(status.st_mode));
  CHECK(stat("data/hard", &status) == 0 && status.st_nlink == 2);
  struct timespec times[2] = {{1, 0}, {2, 0}};
  CHECK(utimensat(AT_FDCWD, "data/soft", times, 0) == 0);
  CHECK(stat("data/target", &status) == 0 && status.st_mtim.tv_sec == 2);
  CHECK(lstat("data/soft", &status) == 0 && status.st_mtim.tv_sec != 2);
  FAILS(open("data/soft", O_RDONLY | O_NOFOLLOW), ELOOP);
  CHECK(rename("data/hard", "data/moved") == 0 && rename("data/soft", "data/moved-soft") == 0);
  FAILS(stat("data/hard", &status), ENOENT);
  FAILS(rename("data/moved/", "data/x"), ENOTDIR);
  CHECK(unlink("data/moved") == 0 && unlink("data/moved-soft") == 0 && unlink("data/target") == 0);
  CHECK(symlink("loop", "data/loop") == 0);
  FAILS(open("data/loop", O_RDONLY), ELOOP);
  CHECK(unlink("data/loop") == 0);
}

static void limits(void) {
  int opened = 0;
  while (open("data", O_RDONLY | O_DIRECTORY) >= 0) ++opened;
  CHECK(errno == EMFILE && opened > 100 && opened < 600);
  for (int i = 0; i < opened; ++i) CHECK(close(4 + i) == 0);
  char *path = malloc(70000);
  memset(path, 'a', 70000);
  memcpy(path, "data/", 5);
  path[69999] = 0;
  FAILS(open(path, O_RDONLY), ENAMETOOLONG);
  path[300] = 0;
  FAILS(open(path, O_RDONLY), ENAMETOOLONG);
}

// What lies beside the directory: outside/secret, and links to it that the test has made in it.
static void ways_out(void) {
  static const char *const paths[] = {
      "..",           "../",          "../outside/secret", "sub/../../outside/secret", "/etc/passwd",
      "/",            "//",           "./../outside",      "sub/../..",                "sub/../../",
      "out/secret",   "out",          "out/",              "secret-link",              "root/etc/passwd",
      "up/outside",   "up",           "sub/up/up/outside", "sub/out/secret",           "out/../outside/secret",
      "out/new",      "up/new",       "up/../new",         "../new",                   "out/..",
      "sub/up/../..", "proc-link/1",  "dangling",          "sub/../up/new"};
  const __wasi_fd_t data = 3;
  const __wasi_lookupflags_t follow = __WASI_LOOKUPFLAGS_SYMLINK_FOLLOW;
  for (unsigned i = 0; i < sizeof(paths) / sizeof(*paths); ++i) {
    const char *path = paths[i];
    __wasi_fd_t opened;
    __wasi_filestat_t status;
    for (int flags = 0; flags < 16; ++flags) {
      CHECK(__wasi_path_open(data, follow, path, (__wasi_oflags_t)flags, ~0ull >> 34, ~0ull >> 34, 0,
                             &opened) != 0);
    }
    CHECK(__wasi_path_filestat_get(data, follow, path, &status) != 0);
    CHECK(__wasi_path_filestat_set_times(data, follow, path, 1, 1, 5) != 0);
    CHECK(__wasi_path_create_directory(data, path) != 0);
    CHECK(__wasi_path_remove_directory(data, path) != 0);
    CHECK(__wasi_path_link(data, follow, path, data, "stolen") != 0);
    CHECK(__wasi_path_link(data, 0, "sub/file", data, path) != 0);
    CHECK(__wasi_path_rename(data, "sub/file", data, "sub/../../file") != 0);
    CHECK(__wasi_path_symlink("text", data, path) != 0);
  }
  // The links themselves belong to the directory; the text of one must not lead to the root.
  CHECK(__wasi_path_symlink("/etc", data, "etc") != 0);
  CHECK(__wasi_path_rename(data, "sub", data, "../sub") != 0);
  CHECK(__wasi_path_rename(data, "../outside", data, "taken") != 0);
  CHECK(__wasi_path_rename(data, "out/secret", data, "taken") != 0);
  CHECK(__wasi_path_unlink_file(data, "out/secret") != 0);
  CHECK(__wasi_path_unlink_file(data, "secret-link/") != 0);
  CHECK(__wasi_path_remove_directory(data, "out/") != 0);
  // Rights that were given up are not won back by opening again.
  __wasi_fd_t sub, file;
  CHECK(__wasi_path_open(data, 0, "sub", __WASI_OFLAGS_DIRECTORY,
                         __WASI_RIGHTS_PATH_OPEN | __WASI_RIGHTS_PATH_CREATE_FILE,
                         __WASI_RIGHTS_FD_READ, 0, &sub) == 0);
  CHECK(__wasi_path_open(sub, 0, "file", 0, __WASI_RIGHTS_FD_WRITE | __WASI_RIGHTS_FD_READ, 0, 0,
                         &file) == 0);
  __wasi_ciovec_t text = {(const uint8_t *)"x", 1};
  __wasi_size_t size;
  CHECK(__wasi_fd_write(file, &text, 1, &size) == __WASI_ERRNO_NOTCAPABLE);
  CHECK(__wasi_path_create_directory(sub, "new") == __WASI_ERRNO_NOTCAPABLE);
  CHECK(__wasi_path_open(sub, 0, "../sub/file", 0, __WASI_RIGHTS_FD_READ, 0, 0, &file) != 0);
  CHECK(__wasi_path_open(sub, 0, "file", __WASI_OFLAGS_TRUNC, __WASI_RIGHTS_FD_READ, 0, 0, &file) ==
        __WASI_ERRNO_NOTCAPABLE);
}

// Opens a way out that the test changes all the time between a folder and a link.
static void race(void) {
  int reached = 0;
  for (int i = 0; i < 20000; ++i) {
    int file = open("data/changing/secret", O_RDONLY);
    if (file < 0) continue;
    char text[16] = {0};
    CHECK(read(file, text, sizeof(text)) == 6 && memcmp(text, "inside", 6) == 0);
    CHECK(close(file) == 0);
    ++reached;
  }
  CHECK(reached > 0);
}

int main(int count, char **arguments) {
  const char *task = count > 1 ? arguments[1] : "";
  if (strcmp(task, "files") == 0) {
    reading_and_writing();
    folders();
    links();
    limits();
  } else if (strcmp(task, "out") == 0) {
    ways_out();
  } else if (strcmp(task, "race") == 0) {
    race();
  } else if (strcmp(task, "read") == 0) {
    int file = open(arguments[2], O_RDONLY);
    char text[64];
    ssize_t length = file < 0 ? -1 : read(file, text, sizeof(text));
    if (length < 0) return 1;
    printf("%.*s", (int)length, text);
  }
  return 0;
}
