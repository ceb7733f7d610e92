// An object that several threads share, with a count of those who still use it. Who gives it up last gives its memory back. The count is
// an atomic number, but it is lowered and looked at in two steps: two threads may both see that nobody is left, or one may look at the
// count after the other one has given the memory back.
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct message {
    atomic_int users;
    char text[8];
};

static void *xmalloc(size_t size) {
    void *memory = malloc(size);
    if (!memory) abort();
    return memory;
}

static void give_up(struct message *message) {
    atomic_fetch_sub(&message->users, 1);
    if (atomic_load(&message->users) == 0) {
        free(message);
    }
}

static void *reader(void *argument) {
    struct message *message = argument;
    size_t length = strlen(message->text);
    give_up(message);
    return (void *)length;
}

int main(void) {
    pthread_t thread;
    struct message *message = xmalloc(sizeof *message);
    atomic_init(&message->users, 2);
    strcpy(message->text, "hello");
    pthread_create(&thread, NULL, reader, message);
    give_up(message);
    void *length;
    pthread_join(thread, &length);
    printf("%ld\n", (long)length);
    return 0;
}
