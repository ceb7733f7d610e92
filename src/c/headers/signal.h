/* ISO C and POSIX: signals. */
#ifndef _CSSAME_SIGNAL_H
#define _CSSAME_SIGNAL_H

#include <sys/types.h>

typedef int sig_atomic_t;
typedef struct {
    unsigned long __bits[16];
} sigset_t;
typedef struct {
    int si_signo;
    int si_code;
    void *si_addr;
} siginfo_t;
struct sigaction {
    void (*sa_handler)(int);
    void (*sa_sigaction)(int, siginfo_t *, void *);
    sigset_t sa_mask;
    int sa_flags;
};

#define SIG_DFL ((void (*)(int))0)
#define SIG_IGN ((void (*)(int))1)
#define SIG_ERR ((void (*)(int))-1)
#define SIGHUP 1
#define SIGINT 2
#define SIGQUIT 3
#define SIGILL 4
#define SIGTRAP 5
#define SIGABRT 6
#define SIGBUS 7
#define SIGFPE 8
#define SIGKILL 9
#define SIGUSR1 10
#define SIGSEGV 11
#define SIGUSR2 12
#define SIGPIPE 13
#define SIGALRM 14
#define SIGTERM 15
#define SIGCHLD 17
#define SA_SIGINFO 4
#define SA_ONSTACK 0x08000000
#define SA_RESTART 0x10000000
#define SIG_BLOCK 0
#define SIG_UNBLOCK 1
#define SIG_SETMASK 2

extern void (*signal(int, void (*)(int)))(int);
extern int raise(int);
extern int kill(pid_t, int);
extern int sigaction(int, const struct sigaction *, struct sigaction *);
extern int sigemptyset(sigset_t *);
extern int sigfillset(sigset_t *);
extern int sigaddset(sigset_t *, int);
extern int sigdelset(sigset_t *, int);
extern int sigismember(const sigset_t *, int);
extern int sigprocmask(int, const sigset_t *, sigset_t *);
extern int sigwait(const sigset_t *, int *);
extern int pthread_sigmask(int, const sigset_t *, sigset_t *);
extern int pthread_kill(unsigned long, int);

#endif
