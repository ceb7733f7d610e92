/* Linux: what is set for a thread. */
#ifndef _CSSAME_SYS_PRCTL_H
#define _CSSAME_SYS_PRCTL_H

#define PR_SET_PDEATHSIG 1
#define PR_SET_NAME 15
#define PR_GET_NAME 16

extern int prctl(int, ...);

#endif
