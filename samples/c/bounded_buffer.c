/* A buffer of one place, with a mutex and two conditions.
 *
 * Both sides test in a loop: a thread that was woken looks again before it goes
 * on. Two items pass through. The twin of samples/bounded_buffer.csm.
 *
 * Expected: no failure and no deadlock; the consumer prints "10", then "20".
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>

int slot;
bool full;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t filled = PTHREAD_COND_INITIALIZER;
pthread_cond_t emptied = PTHREAD_COND_INITIALIZER;

void put(int value) {
    pthread_mutex_lock(&lock);
    while (full)
        pthread_cond_wait(&emptied, &lock);
    slot = value;
    full = true;
    pthread_cond_signal(&filled);
    pthread_mutex_unlock(&lock);
}

int take(void) {
    pthread_mutex_lock(&lock);
    while (!full)
        pthread_cond_wait(&filled, &lock);
    int value = slot;
    full = false;
    pthread_cond_signal(&emptied);
    pthread_mutex_unlock(&lock);
    return value;
}

void *producer(void *unused) {
    put(10);
    put(20);
    return NULL;
}

void *consumer(void *unused) {
    printf("%d\n", take());
    printf("%d\n", take());
    return NULL;
}

int main(void) {
    pthread_t t1, t2;
    pthread_create(&t1, NULL, producer, NULL);
    pthread_create(&t2, NULL, consumer, NULL);
    pthread_join(t1, NULL);
    pthread_join(t2, NULL);
    return 0;
}
