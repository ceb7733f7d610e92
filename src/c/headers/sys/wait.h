/* POSIX: processes that end. */
#ifndef _CSSAME_SYS_WAIT_H
#define _CSSAME_SYS_WAIT_H

#include <sys/types.h>

#define WNOHANG 1
#define WIFEXITED(status) (((status) & 0x7f) == 0)
#define WEXITSTATUS(status) (((status) >> 8) & 0xff)

extern pid_t wait(int *);
extern pid_t waitpid(pid_t, int *, int);

#endif
