/* POSIX: scheduling. */
#ifndef _CSSAME_SCHED_H
#define _CSSAME_SCHED_H

#include <sys/types.h>
#include <time.h>

#define SCHED_OTHER 0
#define SCHED_FIFO 1
#define SCHED_RR 2

struct sched_param {
    int sched_priority;
};
typedef struct {
    unsigned long __bits[16];
} cpu_set_t;

#define CPU_SETSIZE 1024
#define CPU_ZERO(set) ((void)(set))
#define CPU_SET(number, set) ((void)(number), (void)(set))
#define CPU_CLR(number, set) ((void)(number), (void)(set))
#define CPU_ISSET(number, set) ((void)(number), (void)(set), 1)

extern int sched_yield(void);
extern int sched_getcpu(void);
extern int sched_get_priority_max(int);
extern int sched_get_priority_min(int);
extern int sched_setaffinity(pid_t, size_t, const cpu_set_t *);
extern int sched_getaffinity(pid_t, size_t, cpu_set_t *);
extern int sched_setscheduler(pid_t, int, const struct sched_param *);

#endif
