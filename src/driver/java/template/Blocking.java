package cssame;

/** Waits for what another thread does. */
final class Blocking {
    private Blocking() {}

    /** Waits for a change of what the monitor guards. Threads of a run that is over stop here. */
    static void pause(Object monitor) {
        try {
            monitor.wait();
        } catch (InterruptedException interrupt) {
            stopIfOver();
        }
    }

    /** As {@link #pause}, for some milliseconds. */
    static void pause(Object monitor, long millis) {
        try {
            monitor.wait(millis);
        } catch (InterruptedException interrupt) {
            stopIfOver();
        }
    }

    private static void stopIfOver() {
        ProgramThread thread = ProgramThread.current();
        if (thread != null) {
            thread.stopIfOver();
        }
    }
}
