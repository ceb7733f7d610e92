/* A queue of nodes on the heap whose tail is read before the lock is taken.
 *
 * Two producers append one message each. Both may read the same tail: then
 * the second one hangs its message behind a node that already has a follower,
 * and that follower is lost.
 *
 * Expected: the assertion fails, as a message is missing.
 */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

struct message {
    int text;
    struct message *next;
};

struct queue {
    pthread_mutex_t guard;
    struct message *first, *last;
};

static struct queue *queue_new(void) {
    struct queue *made = calloc(1, sizeof *made);
    pthread_mutex_init(&made->guard, NULL);
    made->first = made->last = calloc(1, sizeof(struct message));
    return made;
}

static void queue_append(struct queue *queue, int text) {
    struct message *made = malloc(sizeof *made);
    made->text = text;
    made->next = NULL;
    struct message *last = queue->last;
    pthread_mutex_lock(&queue->guard);
    last->next = made;
    queue->last = made;
    pthread_mutex_unlock(&queue->guard);
}

static struct queue *shared;

static void *producer(void *text) {
    queue_append(shared, (int)(long)text);
    return NULL;
}

int main(void) {
    pthread_t one, two;
    shared = queue_new();
    pthread_create(&one, NULL, producer, (void *)1);
    pthread_create(&two, NULL, producer, (void *)2);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    int sum = 0;
    for (struct message *at = shared->first->next; at; at = at->next)
        sum += at->text;
    assert(sum == 3);
    return 0;
}
