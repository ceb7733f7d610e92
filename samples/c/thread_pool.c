/* A pool of threads that call what others have left for them.
 *
 * A task is a function and its argument, on the heap. Two workers take tasks
 * under the lock of the pool and run them without it; the tasks add to one
 * sum, which no lock guards.
 *
 * Expected: the assertion fails where both tasks read the sum before one of
 * them writes it.
 */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

struct task {
    void (*run)(int);
    int argument;
    struct task *next;
};

static struct task *tasks;
static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
static int sum;

static void add(int number) { sum += number; }
static void add_twice(int number) { sum += 2 * number; }

static void submit(void (*run)(int), int argument) {
    struct task *made = malloc(sizeof *made);
    made->run = run;
    made->argument = argument;
    pthread_mutex_lock(&guard);
    made->next = tasks;
    tasks = made;
    pthread_mutex_unlock(&guard);
}

static struct task *take(void) {
    pthread_mutex_lock(&guard);
    struct task *first = tasks;
    if (first)
        tasks = first->next;
    pthread_mutex_unlock(&guard);
    return first;
}

static void *worker(void *unused) {
    for (struct task *task = take(); task; task = take())
        task->run(task->argument);
    return NULL;
}

int main(void) {
    pthread_t workers[2];
    submit(add, 1);
    submit(add_twice, 1);
    for (int i = 0; i < 2; i++)
        pthread_create(&workers[i], NULL, worker, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(workers[i], NULL);
    assert(sum == 3);
    return 0;
}
