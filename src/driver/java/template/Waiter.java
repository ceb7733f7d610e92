package cssame;

/** A wait for a condition that a thread has begun. */
public final class Waiter {
    /** The thread that waits. */
    final Thread thread = Thread.currentThread();
    /** At how many levels it held the lock. */
    final int levels;
    boolean isNotified;

    Waiter(int levels) {
        this.levels = levels;
    }

    /** The number of its thread in the plan, or -1. */
    int number() {
        return thread instanceof ProgramThread program ? program.number : -1;
    }
}
