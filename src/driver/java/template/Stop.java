package cssame;

/** Ends a thread of the program where it stands: its part of the plan is over, or the run is. */
final class Stop extends Error {
    private static final long serialVersionUID = 1L;

    Stop() {
        super("the thread stops here", null, false, false);
        ProgramThread thread = ProgramThread.current();
        if (thread != null) {
            thread.isStopping = true;
        }
    }
}
