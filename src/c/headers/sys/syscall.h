/* Calls of a system by number. */
#ifndef _CSSAME_SYS_SYSCALL_H
#define _CSSAME_SYS_SYSCALL_H

#define SYS_gettid 186
#define SYS_futex 202
#define __NR_gettid 186
#define __NR_futex 202

extern long syscall(long, ...);

#endif
