/* BSD: messages about errors, and the end of the program with one. */
#ifndef _CSSAME_ERR_H
#define _CSSAME_ERR_H

extern void err(int, const char *, ...) __attribute__((noreturn));
extern void errx(int, const char *, ...) __attribute__((noreturn));
extern void warn(const char *, ...);
extern void warnx(const char *, ...);

#endif
