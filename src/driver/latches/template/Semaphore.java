package cssame;

/** A counting semaphore. */
public final class Semaphore {
    private final String name;
    /** Guarded by the watch. */
    private int count;

    /** A semaphore of that name. */
    public Semaphore(String name, int count) {
        this.name = name;
        this.count = count;
    }

    /** Waits until it is positive, and lowers it. */
    public void acquire() {
        Watch watch = Run.current().watch;
        synchronized (watch) {
            watch.await(() -> "waits for the semaphore " + name, () -> count <= 0);
            count--;
        }
    }

    /** Raises it. */
    public void release() {
        Run.current().watch.change(() -> count++);
    }
}
