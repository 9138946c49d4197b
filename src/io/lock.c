// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// A file with a process number in it was considered and dropped: numbers are used again, and those of another machine
// mean nothing here.
#include "io/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"

enum { OWNER = 160, TRIES = 100 };

static void write_owner(int descriptor)
{
    char host[65] = "", line[OWNER];
    gethostname(host, sizeof host - 1);
    int length = snprintf(line, sizeof line, "process %ld on %s\n", (long)getpid(), host);
    // For people only: a full disk may swallow it, the lock holds all the same.
    if (ftruncate(descriptor, 0) == 0) (void)!pwrite(descriptor, line, (size_t)length, 0);
}

static rh_code refuse(int descriptor, const char *folder, rh_status *status)
{
    char owner[OWNER] = "";
    ssize_t got = pread(descriptor, owner, sizeof owner - 1, 0);
    owner[got > 0 ? got : 0] = 0;
    owner[strcspn(owner, "\n")] = 0;
    return rh_fail(
        status, RH_USER,
        "%s: another run is writing to this folder%s%s\n  wait until it ends or stop it, or take another folder",
        folder, owner[0] ? ": " : "", owner);
}

// Whoever held the lock before us removes the file before letting go: then ours is a file without a name, and the next
// run would take another.
static bool still_there(int descriptor, const char *path)
{
    struct stat mine, named;
    return fstat(descriptor, &mine) == 0 && stat(path, &named) == 0 && mine.st_ino == named.st_ino &&
           mine.st_dev == named.st_dev;
}

// Ours names its owner, or is empty when the disk was full. Any other file of this name is somebody's own, and would be
// gone with the lock.
static rh_code refuse_foreign(int descriptor, const char *path, rh_status *status)
{
    char start[8];
    ssize_t got = pread(descriptor, start, sizeof start, 0);
    if (got == 0 || (got == sizeof start && memcmp(start, "process ", sizeof start) == 0)) return RH_OK;
    return rh_fail(status, RH_USER,
                   "%s: found a file that was not made by rheo, which keeps its lock there; take another folder", path);
}

// RH_OK with a descriptor of -1: the file was removed meanwhile, try again.
static rh_code try_once(rh_folder_lock *lock, const char *folder, rh_status *status)
{
    lock->descriptor = open(lock->path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666);
    if (lock->descriptor < 0) return rh_fail(status, RH_IO, "%s: cannot write here: %s", folder, strerror(errno));
    rh_code code = RH_OK;
    if (flock(lock->descriptor, LOCK_EX | LOCK_NB) != 0) {
        if (errno == EWOULDBLOCK) code = refuse(lock->descriptor, folder, status);
        else
            rh_log(RH_LOG_WARNING, "%s: this file system has no locks (%s): nothing keeps a second run out", folder,
                   strerror(errno));
    }
    if (code == RH_OK) code = refuse_foreign(lock->descriptor, lock->path, status);
    if (code == RH_OK && still_there(lock->descriptor, lock->path)) return RH_OK;
    close(lock->descriptor);
    lock->descriptor = -1;
    return code;
}

rh_code rh_folder_lock_take(rh_folder_lock *lock, const char *folder, rh_status *status)
{
    lock->descriptor = -1;
    int length = snprintf(lock->path, sizeof lock->path, "%s/.lock", folder);
    if (length < 0 || length >= RH_PATH_MAX) return rh_fail(status, RH_USER, "%.200s...: the path is too long", folder);
    RH_TRY(rh_folder_make(folder, status));
    for (int i = 0; i < TRIES && lock->descriptor < 0; i++) RH_TRY(try_once(lock, folder, status));
    if (lock->descriptor < 0)
        return rh_fail(status, RH_IO, "%s: cannot lock: its lock file is removed again and again", folder);
    write_owner(lock->descriptor);
    return RH_OK;
}

void rh_folder_lock_release(rh_folder_lock *lock)
{
    if (lock->descriptor < 0) return;
    if (still_there(lock->descriptor, lock->path)) unlink(lock->path);
    close(lock->descriptor);
    lock->descriptor = -1;
}
