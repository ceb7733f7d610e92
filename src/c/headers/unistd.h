/* POSIX: the system. */
#ifndef _CSSAME_UNISTD_H
#define _CSSAME_UNISTD_H

#include <sys/types.h>

#define STDIN_FILENO 0
#define STDOUT_FILENO 1
#define STDERR_FILENO 2
#define _SC_PAGESIZE 30
#define _SC_NPROCESSORS_CONF 83
#define _SC_NPROCESSORS_ONLN 84
#define SEEK_SET 0
#define SEEK_CUR 1
#define SEEK_END 2
#define R_OK 4
#define W_OK 2
#define X_OK 1
#define F_OK 0

extern char *optarg;
extern int optind, opterr, optopt;

extern unsigned int sleep(unsigned int);
extern int usleep(useconds_t);
extern unsigned int alarm(unsigned int);
extern int pause(void);
extern int getopt(int, char *const *, const char *);
extern ssize_t read(int, void *, size_t);
extern ssize_t write(int, const void *, size_t);
extern int close(int);
extern int unlink(const char *);
extern int access(const char *, int);
extern off_t lseek(int, off_t, int);
extern int pipe(int *);
extern int dup(int);
extern int dup2(int, int);
extern pid_t fork(void);
extern pid_t getpid(void);
extern pid_t getppid(void);
extern pid_t gettid(void);
extern uid_t getuid(void);
extern int execv(const char *, char *const *);
extern int execvp(const char *, char *const *);
extern long sysconf(int);
extern int getpagesize(void);
extern int gethostname(char *, size_t);
extern int isatty(int);
extern long syscall(long, ...);
extern _Noreturn void _exit(int);

#endif
