package cssame;

/** A handle of a spawned thread; {@code null} is the handle of none. */
public final class Handle {
    private final long number;
    final ProgramThread thread;

    Handle(long number, ProgramThread thread) {
        this.number = number;
        this.thread = thread;
    }

    /** Its number, from 1. */
    public long number() {
        return number;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Handle handle && handle.number == number;
    }

    @Override
    public int hashCode() {
        return Long.hashCode(number);
    }

    @Override
    public String toString() {
        return "thread " + number;
    }
}
