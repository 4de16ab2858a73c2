/* Makes calls of the system fail on chosen files. Loaded into a program with LD_PRELOAD; see `mod.rs` beside this file.
 *
 *   FAULT_PATH   part of the paths concerned
 *   FAULT_CALL   write, read, sync, truncate, rename or open
 *   FAULT_ERROR  an error number, or "short": half of the bytes are passed on
 *   FAULT_FIRST  the first such call that fails, from 1
 *   FAULT_TIMES  how many fail from then on; 0: all
 *   FAULT_RANK   the only process of a job concerned, as the launcher counts them; absent: all
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

static atomic_long seen;

static const char *setting(const char *name) {
    const char *value = getenv(name);
    return value ? value : "";
}

static int is_path(const char *path) {
    const char *part = setting("FAULT_PATH");
    return *part && path && strstr(path, part);
}

static int is_file(int fd) {
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, path, sizeof path - 1);
    if (n <= 0) return 0;
    path[n] = 0;
    return is_path(path);
}

/* 0: the call goes on; -1: half of it does; an error number: it fails. */
static int verdict(const char *call, int concerned) {
    if (strcmp(setting("FAULT_CALL"), call) || !concerned) return 0;
    const char *rank = getenv("FAULT_RANK");
    if (rank && strcmp(rank, setting("OMPI_COMM_WORLD_RANK")) && strcmp(rank, setting("PMI_RANK"))) return 0;
    long n = atomic_fetch_add(&seen, 1) + 1, first = atol(setting("FAULT_FIRST")), times = atol(setting("FAULT_TIMES"));
    if (n < first || (times && n >= first + times)) return 0;
    const char *error = setting("FAULT_ERROR");
    return strcmp(error, "short") ? atoi(error) : -1;
}

static int verdict_fd(const char *call, int fd) {
    if (strcmp(setting("FAULT_CALL"), call)) return 0;
    int before = errno, found = verdict(call, is_file(fd));
    errno = before;
    return found;
}

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
#define FAIL(found, value) do { if (found > 0) { errno = found; return value; } } while (0)
#define HALF(found, n) (found < 0 && (n) > 1 ? (n) / 2 : (n))

/* The first half of the pieces. */
static int half(int found, const struct iovec *from, int n, struct iovec *piece) {
    if (found >= 0 || n < 1) return 0;
    *piece = from[0];
    piece->iov_len = HALF(found, piece->iov_len);
    return 1;
}

ssize_t write(int fd, const void *bytes, size_t n) {
    int found = verdict_fd("write", fd);
    FAIL(found, -1);
    return NEXT(write)(fd, bytes, HALF(found, n));
}
ssize_t pwrite(int fd, const void *bytes, size_t n, off_t at) {
    int found = verdict_fd("write", fd);
    FAIL(found, -1);
    return NEXT(pwrite)(fd, bytes, HALF(found, n), at);
}
ssize_t pwrite64(int fd, const void *bytes, size_t n, off64_t at) {
    int found = verdict_fd("write", fd);
    FAIL(found, -1);
    return NEXT(pwrite64)(fd, bytes, HALF(found, n), at);
}
ssize_t writev(int fd, const struct iovec *pieces, int n) {
    struct iovec piece;
    int found = verdict_fd("write", fd);
    FAIL(found, -1);
    return half(found, pieces, n, &piece) ? NEXT(writev)(fd, &piece, 1) : NEXT(writev)(fd, pieces, n);
}
ssize_t pwritev(int fd, const struct iovec *pieces, int n, off_t at) {
    struct iovec piece;
    int found = verdict_fd("write", fd);
    FAIL(found, -1);
    return half(found, pieces, n, &piece) ? NEXT(pwritev)(fd, &piece, 1, at) : NEXT(pwritev)(fd, pieces, n, at);
}
ssize_t pwritev64(int fd, const struct iovec *pieces, int n, off64_t at) {
    struct iovec piece;
    int found = verdict_fd("write", fd);
    FAIL(found, -1);
    return half(found, pieces, n, &piece) ? NEXT(pwritev64)(fd, &piece, 1, at) : NEXT(pwritev64)(fd, pieces, n, at);
}
ssize_t read(int fd, void *bytes, size_t n) {
    int found = verdict_fd("read", fd);
    FAIL(found, -1);
    return NEXT(read)(fd, bytes, HALF(found, n));
}
ssize_t pread(int fd, void *bytes, size_t n, off_t at) {
    int found = verdict_fd("read", fd);
    FAIL(found, -1);
    return NEXT(pread)(fd, bytes, HALF(found, n), at);
}
ssize_t pread64(int fd, void *bytes, size_t n, off64_t at) {
    int found = verdict_fd("read", fd);
    FAIL(found, -1);
    return NEXT(pread64)(fd, bytes, HALF(found, n), at);
}
ssize_t readv(int fd, const struct iovec *pieces, int n) {
    struct iovec piece;
    int found = verdict_fd("read", fd);
    FAIL(found, -1);
    return half(found, pieces, n, &piece) ? NEXT(readv)(fd, &piece, 1) : NEXT(readv)(fd, pieces, n);
}
int fsync(int fd) {
    int found = verdict_fd("sync", fd);
    FAIL(found, -1);
    return NEXT(fsync)(fd);
}
int fdatasync(int fd) {
    int found = verdict_fd("sync", fd);
    FAIL(found, -1);
    return NEXT(fdatasync)(fd);
}
int ftruncate(int fd, off_t n) {
    int found = verdict_fd("truncate", fd);
    FAIL(found, -1);
    return NEXT(ftruncate)(fd, n);
}
int ftruncate64(int fd, off64_t n) {
    int found = verdict_fd("truncate", fd);
    FAIL(found, -1);
    return NEXT(ftruncate64)(fd, n);
}
int rename(const char *from, const char *to) {
    int found = verdict("rename", is_path(from) || is_path(to));
    FAIL(found, -1);
    return NEXT(rename)(from, to);
}

/* The mode is only there where a file may be made. */
static unsigned mode_of(int flags, va_list list) {
    return flags & (O_CREAT | O_TMPFILE) ? va_arg(list, unsigned) : 0;
}
int open(const char *path, int flags, ...) {
    va_list list;
    va_start(list, flags);
    unsigned mode = mode_of(flags, list);
    va_end(list);
    int found = verdict("open", is_path(path));
    FAIL(found, -1);
    return NEXT(open)(path, flags, mode);
}
int open64(const char *path, int flags, ...) {
    va_list list;
    va_start(list, flags);
    unsigned mode = mode_of(flags, list);
    va_end(list);
    int found = verdict("open", is_path(path));
    FAIL(found, -1);
    return NEXT(open64)(path, flags, mode);
}
int openat(int folder, const char *path, int flags, ...) {
    va_list list;
    va_start(list, flags);
    unsigned mode = mode_of(flags, list);
    va_end(list);
    int found = verdict("open", is_path(path));
    FAIL(found, -1);
    return NEXT(openat)(folder, path, flags, mode);
}
int openat64(int folder, const char *path, int flags, ...) {
    va_list list;
    va_start(list, flags);
    unsigned mode = mode_of(flags, list);
    va_end(list);
    int found = verdict("open", is_path(path));
    FAIL(found, -1);
    return NEXT(openat64)(folder, path, flags, mode);
}
