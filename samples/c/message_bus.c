// Events of unlike kinds go through one ring, by value: a union holds what each kind has, and the list of those who listen is found
// through a member (`container_of`). `post` copies the event into its slot outside of the lock, so `take` may find half of it.
#include <assert.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define SLOTS 2
#define container_of(pointer, type, member) ((type *)((char *)(pointer) - offsetof(type, member)))

struct event {
    enum { MOVED, RENAMED } kind;
    union {
        struct {
            int x, y;
        } moved;
        struct {
            int from, to;
        } renamed;
    };
};

struct link {
    struct link *next;
};

struct listener {
    int seen;
    struct link link;
};

static struct {
    pthread_mutex_t guard;
    pthread_cond_t filled;
    int head, tail;
    struct event slots[SLOTS];
} ring = {.guard = PTHREAD_MUTEX_INITIALIZER, .filled = PTHREAD_COND_INITIALIZER};

static struct link *listeners;

static struct event moved(int x, int y) {
    return (struct event){.kind = MOVED, .moved = {x, y}};
}

static void post(struct event event) {
    pthread_mutex_lock(&ring.guard);
    struct event *slot = &ring.slots[ring.tail++ % SLOTS];
    pthread_cond_signal(&ring.filled);
    pthread_mutex_unlock(&ring.guard);
    memcpy(slot, &event, sizeof event);
}

static struct event take(void) {
    pthread_mutex_lock(&ring.guard);
    while (ring.head == ring.tail) {
        pthread_cond_wait(&ring.filled, &ring.guard);
    }
    struct event event = ring.slots[ring.head++ % SLOTS];
    pthread_mutex_unlock(&ring.guard);
    return event;
}

static void *poster(void *unused) {
    post(moved(3, 4));
    return unused;
}

int main(void) {
    pthread_t thread;
    struct listener *listener = calloc(1, sizeof *listener);
    listeners = &listener->link;
    pthread_create(&thread, NULL, poster, NULL);
    struct event event = take();
    container_of(listeners, struct listener, link)->seen++;
    assert(event.moved.x == 3 && event.moved.y == 4);
    pthread_join(thread, NULL);
    free(listener);
    return 0;
}
