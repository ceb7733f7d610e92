/* POSIX: time of day. */
#ifndef _CSSAME_SYS_TIME_H
#define _CSSAME_SYS_TIME_H

#include <time.h>

struct timeval {
    time_t tv_sec;
    suseconds_t tv_usec;
};
struct timezone {
    int tz_minuteswest;
    int tz_dsttime;
};

extern int gettimeofday(struct timeval *, void *);

#endif
