/* Two increments without a lock: one of them may be lost.
 *
 * The twin of samples/counter_unlocked.csm.
 *
 * Expected: outputs "1" and "2".
 */
#include <pthread.h>
#include <stdio.h>

int x = 0;

void *increment(void *unused) {
    x++;
    return NULL;
}

int main(void) {
    pthread_t t1, t2;
    pthread_create(&t1, NULL, increment, NULL);
    pthread_create(&t2, NULL, increment, NULL);
    pthread_join(t1, NULL);
    pthread_join(t2, NULL);
    printf("%d\n", x);
    return 0;
}
