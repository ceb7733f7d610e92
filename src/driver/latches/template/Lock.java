package cssame;

/** A lock. It is not re-entrant: a thread that takes it twice waits for ever. */
public final class Lock {
    private final String name;
    /** Guarded by the watch. */
    private ProgramThread holder;

    /** A free lock of that name. */
    public Lock(String name) {
        this.name = name;
    }

    /** Takes the lock. */
    public void lock() {
        ProgramThread self = ProgramThread.current();
        Watch watch = self.run.watch;
        synchronized (watch) {
            watch.await(() -> "waits for the lock " + name + ", which " + holder.getName() + " holds", () -> holder != null);
            holder = self;
        }
    }

    /** Frees the lock. */
    public void unlock() {
        ProgramThread self = ProgramThread.current();
        self.run.watch.change(() -> {
            Failure.check(holder == self, "the lock is not held by this thread: " + name);
            holder = null;
        });
    }
}
