/* ISO C and POSIX: jumps between functions. */
#ifndef _CSSAME_SETJMP_H
#define _CSSAME_SETJMP_H

typedef struct {
    long __registers[25];
} jmp_buf[1];
typedef jmp_buf sigjmp_buf;

extern int setjmp(jmp_buf);
extern int sigsetjmp(sigjmp_buf, int);
extern _Noreturn void longjmp(jmp_buf, int);
extern _Noreturn void siglongjmp(sigjmp_buf, int);

#endif
