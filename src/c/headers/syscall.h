/* As sys/syscall.h. */
#include <sys/syscall.h>
