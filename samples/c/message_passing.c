/* A message and a flag that announces it.
 *
 * The receiver looks once. If it sees the flag it also sees the message: the
 * term `data@initial` of the read behind the flag cannot happen. The flag is
 * atomic, so the accesses to the message do not race. The twin of
 * samples/message_passing.csm.
 *
 * Expected: no failure; output "42" or none.
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

int data;
atomic_int flag;

void *sender(void *unused) {
    data = 42;
    flag = 1;
    return NULL;
}

void *receiver(void *unused) {
    if (flag == 1) {
        int got = data;
        assert(got == 42);
        printf("%d\n", got);
    }
    return NULL;
}

int main(void) {
    pthread_t t1, t2;
    pthread_create(&t1, NULL, sender, NULL);
    pthread_create(&t2, NULL, receiver, NULL);
    pthread_join(t1, NULL);
    pthread_join(t2, NULL);
    return 0;
}
