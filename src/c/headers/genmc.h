/* What the tests of GenMC take from it: the functions of its model checker, by name. */
#ifndef _CSSAME_GENMC_H
#define _CSSAME_GENMC_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

typedef pthread_t __VERIFIER_thread_t;

extern void __VERIFIER_assume(int);
extern int __VERIFIER_nondet_int(void);
#define __VERIFIER_spawn(routine, argument) \
    ({ pthread_t __thread; pthread_create(&__thread, 0, routine, argument); __thread; })
#define __VERIFIER_join(thread) ({ void *__result; pthread_join(thread, &__result); __result; })
/* Hints for its search; what they do is the same. */
#define __VERIFIER_spawn_symmetric(routine, argument, twin) ((void)(twin), __VERIFIER_spawn(routine, argument))
#define __VERIFIER_optional(...) __VA_ARGS__
#define __VERIFIER_final_write(...) __VA_ARGS__
#define __VERIFIER_final_CAS(...) __VA_ARGS__
#define __VERIFIER_helping_CAS(...) __VA_ARGS__
#define __VERIFIER_helped_CAS(...) __VA_ARGS__
#define __VERIFIER_spin_start() ((void)0)
#define __VERIFIER_spin_end(condition) ((void)(condition))
#define __VERIFIER_loop_begin() ((void)0)

#endif
