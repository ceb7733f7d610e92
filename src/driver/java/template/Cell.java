package cssame;

import java.util.concurrent.atomic.AtomicReference;

/** A shared variable with atomic operations. */
public final class Cell<T> {
    private final AtomicReference<T> content;

    /** A variable with that value. */
    public Cell(T initial) {
        content = new AtomicReference<>(initial);
    }

    /** Its value. */
    public T get() {
        return content.get();
    }

    /** Gives it a value. */
    public void set(T value) {
        content.set(value);
    }

    /** Gives it the new value if it has the old one; whether it had. */
    public boolean compareAndSet(T old, T value) {
        T present = content.get();
        while (Numbers.areEqual(present, old)) {
            // Equal values may be different objects: the exchange compares objects.
            if (content.compareAndSet(present, value)) {
                return true;
            }
            present = content.get();
        }
        return false;
    }

    /** Gives it a value; the value before. */
    public T swap(T value) {
        return content.getAndSet(value);
    }

    /** Adds to it; the value before. */
    public T fetchAdd(T more) {
        return content.getAndUpdate(present -> Numbers.sum(present, more));
    }
}
