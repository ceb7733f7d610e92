package cssame;

/** Failures of the program. */
public final class Failure {
    private Failure() {}

    /** The program fails with this message unless the condition holds. */
    public static void check(boolean holds, String message) {
        if (!holds) {
            throw of(message);
        }
    }

    /** An execution in which the condition does not hold counts for nothing. */
    public static void assume(boolean holds) {
        ProgramThread thread = ProgramThread.current();
        if (holds) {
            return;
        } else if (thread == null) {
            throw new Stop();
        } else if (thread.run.isFree()) {
            throw thread.run.discard();
        }
        thread.stopIfOver();
        if (thread.planned() == null) {
            throw thread.past("assumption, which does not hold");
        }
        throw thread.depart("violates an assumption");
    }

    /** What stops the thread that fails so. */
    static Error of(String message) {
        ProgramThread thread = ProgramThread.current();
        return thread == null ? new AssertionError(message) : thread.fail(message);
    }
}
