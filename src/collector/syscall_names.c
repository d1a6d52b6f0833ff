/* SPDX-License-Identifier: Apache-2.0 */
/* Names of the system calls that a thread may be found waiting in. */
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <unistd.h>

#include "collector/osrt.h"

static const struct ap__call {
    long number;
    const char *name;
    bool has_fd;
} ap__calls[] = {
    {SYS_read, "read", true}, {SYS_write, "write", true}, {SYS_readv, "readv", true},
    {SYS_writev, "writev", true}, {SYS_pread64, "pread64", true},
    {SYS_pwrite64, "pwrite64", true}, {SYS_preadv, "preadv", true},
    {SYS_pwritev, "pwritev", true}, {SYS_close, "close", true}, {SYS_fsync, "fsync", true},
    {SYS_fdatasync, "fdatasync", true}, {SYS_ftruncate, "ftruncate", true},
    {SYS_fallocate, "fallocate", true}, {SYS_lseek, "lseek", true}, {SYS_ioctl, "ioctl", true},
    {SYS_fcntl, "fcntl", true}, {SYS_flock, "flock", true}, {SYS_splice, "splice", true},
    {SYS_tee, "tee", true}, {SYS_vmsplice, "vmsplice", true}, {SYS_accept, "accept", true},
    {SYS_accept4, "accept4", true}, {SYS_connect, "connect", true}, {SYS_sendto, "sendto", true},
    {SYS_recvfrom, "recvfrom", true}, {SYS_sendmsg, "sendmsg", true},
    {SYS_recvmsg, "recvmsg", true}, {SYS_sendmmsg, "sendmmsg", true},
    {SYS_recvmmsg, "recvmmsg", true}, {SYS_getdents64, "getdents64", true},
    {SYS_syncfs, "syncfs", true}, {SYS_sync_file_range, "sync_file_range", true},
    {SYS_readahead, "readahead", true}, {SYS_epoll_pwait, "epoll_pwait", true},
    {SYS_io_uring_enter, "io_uring_enter", true}, {SYS_shutdown, "shutdown", true},
    {SYS_openat, "openat", false}, {SYS_newfstatat, "newfstatat", false},
    {SYS_statx, "statx", false}, {SYS_unlinkat, "unlinkat", false},
    {SYS_renameat2, "renameat2", false}, {SYS_mkdirat, "mkdirat", false},
    {SYS_ppoll, "ppoll", false}, {SYS_pselect6, "pselect6", false},
    {SYS_nanosleep, "nanosleep", false}, {SYS_clock_nanosleep, "clock_nanosleep", false},
    {SYS_clock_gettime, "clock_gettime", false}, {SYS_futex, "futex", false},
    {SYS_wait4, "wait4", false}, {SYS_waitid, "waitid", false}, {SYS_exit, "exit", false},
    {SYS_exit_group, "exit_group", false}, {SYS_mmap, "mmap", false},
    {SYS_munmap, "munmap", false}, {SYS_mprotect, "mprotect", false},
    {SYS_madvise, "madvise", false}, {SYS_mremap, "mremap", false}, {SYS_brk, "brk", false},
    {SYS_msync, "msync", false}, {SYS_mlock, "mlock", false}, {SYS_mlockall, "mlockall", false},
    {SYS_rt_sigtimedwait, "rt_sigtimedwait", false}, {SYS_rt_sigsuspend, "rt_sigsuspend", false},
    {SYS_restart_syscall, "restart_syscall", false}, {SYS_io_getevents, "io_getevents", false},
    {SYS_io_submit, "io_submit", false}, {SYS_semop, "semop", false},
    {SYS_semtimedop, "semtimedop", false}, {SYS_msgsnd, "msgsnd", false},
    {SYS_msgrcv, "msgrcv", false}, {SYS_mq_timedsend, "mq_timedsend", false},
    {SYS_mq_timedreceive, "mq_timedreceive", false}, {SYS_clone, "clone", false},
    {SYS_execve, "execve", false}, {SYS_sched_yield, "sched_yield", false},
    {SYS_getrandom, "getrandom", false}, {SYS_membarrier, "membarrier", false},
    {SYS_process_vm_readv, "process_vm_readv", false},
    {SYS_process_vm_writev, "process_vm_writev", false},
    {SYS_copy_file_range, "copy_file_range", false}, {SYS_sendfile, "sendfile", false},
    {SYS_sync, "sync", false}, {SYS_truncate, "truncate", false}, {SYS_socket, "socket", false},
    {SYS_memfd_create, "memfd_create", false},
/* not on every processor, or of later kernels */
#ifdef SYS_epoll_wait
    {SYS_epoll_wait, "epoll_wait", true},
#endif
#ifdef SYS_getdents
    {SYS_getdents, "getdents", true},
#endif
#ifdef SYS_epoll_pwait2
    {SYS_epoll_pwait2, "epoll_pwait2", true},
#endif
#ifdef SYS_open
    {SYS_open, "open", false},
#endif
#ifdef SYS_creat
    {SYS_creat, "creat", false},
#endif
#ifdef SYS_poll
    {SYS_poll, "poll", false},
#endif
#ifdef SYS_select
    {SYS_select, "select", false},
#endif
#ifdef SYS_pause
    {SYS_pause, "pause", false},
#endif
#ifdef SYS_fork
    {SYS_fork, "fork", false},
#endif
#ifdef SYS_vfork
    {SYS_vfork, "vfork", false},
#endif
#ifdef SYS_rename
    {SYS_rename, "rename", false},
#endif
#ifdef SYS_unlink
    {SYS_unlink, "unlink", false},
#endif
#ifdef SYS_mkdir
    {SYS_mkdir, "mkdir", false},
#endif
#ifdef SYS_rmdir
    {SYS_rmdir, "rmdir", false},
#endif
#ifdef SYS_stat
    {SYS_stat, "stat", false},
#endif
#ifdef SYS_lstat
    {SYS_lstat, "lstat", false},
#endif
#ifdef SYS_access
    {SYS_access, "access", false},
#endif
#ifdef SYS_futex_waitv
    {SYS_futex_waitv, "futex_waitv", false},
#endif
#ifdef SYS_clone3
    {SYS_clone3, "clone3", false},
#endif
};

const char *ap__syscall_name(long number, bool *has_fd)
{
    for (size_t i = 0; i < sizeof(ap__calls) / sizeof(ap__calls[0]); i++) {
        if (ap__calls[i].number == number) {
            *has_fd = ap__calls[i].has_fd;
            return ap__calls[i].name;
        }
    }
    *has_fd = false;
    return NULL;
}
