package cssame;

/** Ends a thread of a run that is over. */
final class Stop extends Error {
    private static final long serialVersionUID = 1;

    Stop() {
        super("the run is over", null, false, false);
    }
}
