package cssame;

/** A cyclic barrier. */
public final class Barrier {
    private final String name;
    private final int parties;
    /** Guarded by the watch. */
    private int arrived;
    private int phase;

    /** A barrier of that name for so many threads. */
    public Barrier(String name, int parties) {
        this.name = name;
        this.parties = parties;
    }

    /** Waits until all have come. */
    public void await() {
        Watch watch = Run.current().watch;
        synchronized (watch) {
            int own = phase;
            watch.change(() -> {
                arrived++;
                if (arrived == parties) {
                    arrived = 0;
                    phase++;
                }
            });
            watch.await(() -> "waits at the barrier " + name + ", " + arrived + " of " + parties, () -> phase == own);
        }
    }
}
